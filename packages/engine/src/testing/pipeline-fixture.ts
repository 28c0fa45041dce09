import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Bus } from '../bus/bus.js';
import { createEmbeddedBus } from '../bus/embedded/embedded-bus.js';
import type { LogicalCondition } from '../conditions/condition.js';
import { createEmbeddedCoordinator } from '../coordinator/embedded-coordinator.js';
import { createMemoryStore } from '../coordinator/memory-store.js';
import type { Store } from '../coordinator/store.js';
import type { ComponentType, PipelineDefinition } from '../pipeline/definition.js';
import type { Batch } from '../connector-api/batch.js';
import type { DataRecord } from '../connector-api/record.js';
import {
  ConnectorError,
  WRITTEN,
  type Enrichment,
  type Input,
  type Output,
  type WriteResult,
} from '../connector-api/index.js';
import { DeadLetters } from '../delivery/dead-letters.js';
import { PipelineRunner } from '../control/pipeline-runner.js';
import type { RunnerLimits } from '../delivery/runner-options.js';
import type { Suspension } from '../connector-api/suspension.js';
import type { Meter } from '../pipeline/meter.js';
import type { TransformConfig } from '../transforms/operation.js';

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
const kinds: Record<string, ComponentType> = { i: 'input', o: 'output', e: 'enrichment' };

/**
 * Builds a pipeline: `graph('in a out', 'in>a a>out')`. The first letter of a name determines the
 * type: `i` input, `o` output, `e` enrichment, any other a transform.
 */
export function graph(
  names: string,
  connections: string,
  conditions: Record<string, LogicalCondition> = {},
): PipelineDefinition {
  return {
    id: 'p',
    nodes: words(names).map((name) => ({
      id: name,
      slug: name,
      component_id: name,
      component_type: kinds[name[0] ?? ''] ?? 'transform',
      enabled: true,
    })),
    edges: words(connections).map((connection, index) => ({
      id: `e${index}`,
      from_node_instance_id: connection.split('>')[0] ?? '',
      to_node_instance_id: connection.split('>')[1] ?? '',
      conditions: conditions[connection] ?? { operator: 'always' },
    })),
  };
}

/** An output in memory; `respond` computes the result of each batch. */
export class Collector implements Output {
  readonly batches: Batch[] = [];
  closed = 0;
  respond: (batch: Batch, signal: AbortSignal) => WriteResult | Promise<WriteResult> = () => WRITTEN;

  async write(batch: Batch, signal: AbortSignal): Promise<WriteResult> {
    const result = await this.respond(batch, signal);
    const open = new Set([
      ...(result.rejected ?? []).map(({ index }) => index),
      ...(result.refused ?? []).flatMap(({ indexes }) => indexes),
      ...(result.unsent ?? []),
      ...(result.retry?.indexes ?? []),
    ]);
    const written = [...batch.lines.keys()].filter((index) => !open.has(index));
    if (written.length > 0 || open.size === 0) this.batches.push(batch.pick(written));
    return result;
  }

  close(): Promise<void> {
    this.closed += 1;
    return Promise.resolve();
  }

  get records(): DataRecord[] {
    return this.batches.flatMap((batch) => batch.records);
  }

  /** The field `n` of all records. */
  get numbers(): unknown[] {
    return this.records.map((record) => record['n']);
  }
}

/** Creates an output that fails until `recover` is called. */
export function deadOutput(): Collector & { recover(): void } {
  let down = true;
  const output = Object.assign(new Collector(), { recover: () => void (down = false) });
  output.respond = () => {
    if (down) throw new ConnectorError('down', 'The destination does not respond.');
    return WRITTEN;
  };
  return output;
}

export interface World {
  folder: string;
  store: Store;
  readonly bus: Bus;
  /** Opens the bus again after it was closed, as a restart does. */
  reopen(): void;
  /** Creates a runner with short intervals; `holder` identifies the worker. */
  runner(parts: {
    definition: PipelineDefinition;
    inputs: Record<string, Input>;
    outputs: Record<string, Output>;
    transforms?: Record<string, TransformConfig>;
    enrichments?: Record<string, Enrichment>;
    holder?: string;
    limits?: Partial<RunnerLimits>;
    meter?: Meter;
    suspension?: Suspension;
  }): PipelineRunner;
  deadLetters(): Promise<DataRecord[]>;
}

/** Creates an environment that runs pipelines on real files. */
export async function openWorld(maxBytes = 10_000_000): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'engine-'));
  const openBus = (): Bus => createEmbeddedBus({ folder: join(folder, 'bus'), maxBytes, segmentBytes: 100_000 });
  let bus = openBus();
  const store = createMemoryStore();
  const runners: PipelineRunner[] = [];
  onTestFinished(async () => {
    for (const runner of runners) await runner.stop();
    await bus.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    folder,
    store,
    get bus() {
      return bus;
    },
    reopen() {
      bus = openBus();
    },
    runner({
      definition,
      inputs,
      outputs,
      transforms = {},
      enrichments = {},
      holder = 'worker',
      limits = {},
      ...rest
    }) {
      const runner = new PipelineRunner({
        definition,
        components: {
          inputs: new Map(Object.entries(inputs)),
          outputs: new Map(Object.entries(outputs)),
          transforms: new Map(Object.entries(transforms)),
          enrichments: new Map(Object.entries(enrichments)),
        },
        bus,
        coordinator: createEmbeddedCoordinator({ store }),
        holder,
        folder: join(folder, 'p'),
        ...rest,
        limits: { reconcile: 20, leaseTtl: 5_000, grace: 300, retryCap: 20, ...limits },
      });
      runners.push(runner);
      return runner;
    },
    async deadLetters() {
      const bounds = { maxBytes: Infinity, maxCount: Infinity, whenFull: 'block', now: Date.now } as const;
      const letters = await new DeadLetters(join(folder, 'p'), bounds).list({ limit: Infinity });
      return letters.map(({ nodeId, at, reason, recordId, line }): DataRecord => ({
        node_id: nodeId,
        at,
        reason,
        record_id: recordId,
        record: JSON.parse(line),
      }));
    },
  };
}

/** Returns `count` lines of records `{ n }`, starting at `from`. */
export const numbered = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => JSON.stringify({ n: from + index }));
export const numbersUpTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
