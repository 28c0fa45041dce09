import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../packages/service/src/store/database.js';
import { createEgress, type Egress } from '../../packages/engine/src/egress/index.js';
import { ManualClock } from '../../packages/engine/src/testing/manual-clock.js';
import type { EngineOptions } from '../../packages/service/src/pipelines/running/engine-options.js';
import { createTestService, type Answer, type Tenant, type TestService } from './service.js';
import type { MasterKey } from '../../packages/service/src/secrets/master-key.js';

/** An alert in a response. */
export interface AlertShape {
  id: string;
  name: string;
  description: string;
  rule_id: string;
  severity: string;
  resource: { resource_type: string; resource_id: string; parent_type?: string; parent_id?: string };
  status: { state: string; clearing_started_at?: number; resolved_at?: number };
  metadata: Record<string, unknown>;
  created_at: number;
  fired_at: number;
}

export interface AlertWorldOptions {
  database: Database;
  /** Without one, a temporary folder. */
  folder?: string;
  clock?: ManualClock;
  master?: MasterKey;
  run?: Partial<EngineOptions>;
  /** Default: guarded, with this machine opened. */
  egress?: Egress;
}

const MAX_STEPS = 120;
const POLL_MS = 20;

/** A service whose engine and API share one clock, which moves only by `step`. */
export interface AlertWorld {
  service: TestService;
  clock: ManualClock;
  /** Unix seconds. */
  seconds(): number;
  /** Moves the clock by ten seconds at a time, as often as the engine evaluates rules. */
  step(times?: number): Promise<void>;
  /**
   * Steps until `check` returns a value. Throws after 20 minutes of the clock.
   * @param options `settleMs`: real milliseconds to wait for the value after each step
   */
  until<T>(check: () => Promise<T | undefined | false>, options?: { settleMs?: number }): Promise<T>;
  close(): Promise<void>;
}

export async function openAlertWorld({
  database,
  folder,
  clock = new ManualClock(Date.UTC(2030, 0, 1)),
  master,
  run,
  egress = createEgress({ allow: ['127.0.0.0/8'] }),
}: AlertWorldOptions): Promise<AlertWorld> {
  const service = await createTestService({
    database,
    ...(master && { master }),
    egress,
    clock: { now: () => clock.now(), elapsed: () => clock.now(), advance: (ms) => clock.advance(ms) },
    run: { clock, limits: { grace: 500 }, ...(folder !== undefined && { folder }), ...run },
  });
  await service.engine?.started;
  async function step(times = 1): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      // Timers that end before the next evaluation, and then the evaluation itself.
      clock.advance(5_000);
      await pause(3);
      clock.advance(5_000);
      await pause(12);
    }
  }
  return {
    service,
    clock,
    seconds: () => Math.floor(clock.now() / 1_000),
    step,
    async until(check, { settleMs = 0 } = {}) {
      for (let n = 0; ; n += 1) {
        for (let left = settleMs; ; left -= POLL_MS) {
          const found = await check();
          if (found !== undefined && found !== false) return found;
          if (left <= 0) break;
          await pause(POLL_MS);
        }
        if (n >= MAX_STEPS) throw new Error('It did not happen within 20 minutes of the clock.');
        await step();
      }
    },
    close: () => service.close(),
  };
}

/** Calls of one organization. `~` in a path stands for its team. */
export function clientOf({ service }: Pick<AlertWorld, 'service'>, tenant: Tenant) {
  const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
    service.call(method, path.replace('~', tenant.team), { key: tenant.key, ...(body === undefined ? {} : { body }) });
  const must = async (method: string, path: string, body?: unknown): Promise<Answer['body']> => {
    const { status, body: got, text } = await send(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return got;
  };
  return {
    send,
    must,
    /** Creates an input of a type, and a pipeline from it to a new output. */
    async build(output: { type: string; config?: object }, inputType = 'monad-http', name = 'Source') {
      const input: string = (await must('POST', '/v2/~/inputs', { name, type: inputType, config: {} })).id;
      const integration = { input_id: input, name, output: { name: 'Out', ...output } };
      const { pipeline_id: pipeline, output_id: out } = await must('POST', '/v2/~/integrations', integration);
      return { input, pipeline: String(pipeline), output: String(out) };
    },
    /** Adds an output to a pipeline, with an edge from its input. */
    async addOutput(pipeline: string, output: { type: string; config: object }): Promise<void> {
      const component: string = (await must('POST', '/v2/~/outputs', { name: output.type, ...output })).id;
      const { nodes, edges } = await must('GET', `/v2/~/pipelines/${pipeline}`);
      const input = nodes.find((node: { component_type: string }) => node.component_type === 'input');
      await must('PATCH', `/v2/~/pipelines/${pipeline}`, {
        nodes: [...nodes, { slug: output.type, component_id: component, component_type: 'output' }],
        edges: [...edges, { from_node_instance_id: input.id, to_node_instance_id: output.type }],
      });
    },
    rule: async (type: string, settings: object, more: object = {}): Promise<string> =>
      (
        await must('POST', '/v3/~/alert_rules', {
          name: type,
          type,
          severity: 'high',
          rule_config: { settings },
          ...more,
        })
      ).id,
    alerts: async (query = ''): Promise<AlertShape[]> => (await must('GET', `/v3/~/alerts${query}`)).alerts,
  };
}

/** Settings of a rule that fires on any error in a minute. */
export const ANY_ERROR = {
  metric_config: { type: 'errors', errors: { threshold: 0 } },
  operator: 'greater_than',
  time_window: '1m',
};
