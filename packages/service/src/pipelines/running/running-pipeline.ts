import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  PipelineLog,
  PipelineRunner,
  stateOf,
  type Appended,
  type AppendOptions,
  type Bus,
  type Coordinator,
  type LogEntry,
  type NodeCounts,
  type PipelineState,
  type PipelineStatus,
  type RunnerLimits,
} from '@connector-frame/engine';
import type { OrganizationVault } from '../../secrets/vault.js';
import type { RunningRow } from '../../store/running-pipelines.js';
import type { Pipeline, Reseal } from '../../store/store.js';
import { componentsOf, openedOf, type ComponentTools } from './components-of.js';
import { fingerprintOf } from './fingerprint.js';
import { MetricsHistory } from './metrics-history.js';

export interface RunningTools extends ComponentTools {
  bus: Bus;
  coordinator: Coordinator;
  holder: string;
  /** Each pipeline has a folder of its own in it. */
  folder: string;
  vaultOf: (organizationId: string) => Promise<OrganizationVault>;
  /** Stores secrets that were sealed again. Never rejects: the next start does what failed. */
  reseal: (reseals: readonly Reseal[]) => Promise<void>;
  limits: () => Partial<RunnerLimits>;
}

/** Entries of a log that are kept: ten thousand pipelines that fail have ten thousand logs. */
const LOG_CAPACITY = 200;

const CLOSED: Appended = { stored: false, reason: 'closed' };

/** One pipeline of the embedded engine, over all changes of it: its runner is made again, log and figures go on. */
export class RunningPipeline {
  readonly history = new MetricsHistory();
  /** As it was last applied; another one is in the database when this is not the stamp there. */
  stamp: string | undefined;
  #log: PipelineLog | undefined;
  #runner: PipelineRunner | undefined;
  #fingerprint: string | undefined;
  #pipeline: Pipeline | undefined;
  #failure: { at: number; code: string; message: string } | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** While there is no runner, and will be one. */
  #ready: Promise<void> | undefined;
  #open: () => void = () => undefined;
  #removed = false;
  readonly #gone = new AbortController();

  constructor(
    readonly id: string,
    private readonly tools: RunningTools,
  ) {
    this.#shut();
  }

  /** Brings it to what is in the database. Rejects when it could not be done now. */
  apply(row: RunningRow): Promise<void> {
    return this.#inTurn(async () => {
      if (this.stamp === row.stamp || this.#gone.signal.aborted) return;
      const fingerprint = fingerprintOf(row);
      try {
        if (!this.#runner || fingerprint !== this.#fingerprint) await this.#make(row);
        else if (row.pipeline.enabled !== this.#pipeline?.enabled) {
          await (row.pipeline.enabled ? this.#runner.resume() : this.#runner.pause());
        }
        this.#pipeline = row.pipeline;
        this.stamp = row.stamp;
        this.#failure = undefined;
      } catch (error) {
        this.#fail();
        throw error;
      }
    });
  }

  /** Takes records in, as soon as there is a runner again. `undefined`: the pipeline was removed. */
  async append(lines: readonly string[], options?: AppendOptions): Promise<Appended | undefined> {
    for (;;) {
      if (this.#ready) await this.#ready;
      if (this.#removed) return undefined;
      const runner = this.#runner;
      if (!runner) return CLOSED;
      try {
        const appended = await runner.append(lines, options);
        // Closed for being made again: the next one takes them.
        const isLast = this.#ready === undefined && this.#runner === runner && !this.#removed;
        if (appended.stored || appended.reason !== 'closed' || isLast) return appended;
      } catch (error) {
        if (!this.#removed) throw error;
      }
    }
  }

  async full(): Promise<boolean> {
    try {
      return (await this.#runner?.full()) ?? false;
    } catch {
      // Whoever appends is told why.
      return false;
    }
  }

  /** How it does. @param pipeline as it is in the database */
  async state(pipeline: Pick<Pipeline, 'id' | 'nodes' | 'edges' | 'enabled'>): Promise<PipelineState> {
    if (this.#runner) return this.#runner.state(pipeline.enabled);
    const now = this.tools.clock.now();
    if (!this.#failure) return stateOf(pipeline, { enabled: pipeline.enabled, held: false }, now);
    const { at, code, message } = this.#failure;
    const ends = { '': { acknowledged: false, failures: 0, permanent: true } };
    const seen = { working: false, full: false, waiting: 0, counts: null, ends, lastError: { at, code, message } };
    return stateOf(pipeline, { enabled: pipeline.enabled, held: true, heartbeatAt: now, observation: seen }, now);
  }

  /** At once, as it was last applied. */
  summary(): NodeCounts & { status: PipelineStatus } {
    const enabled = this.#pipeline?.enabled ?? true;
    if (this.#runner) return this.#runner.summary(enabled);
    const none = { records: 0, bytes: 0 };
    const status = this.#failure ? 'Erroring' : enabled ? 'Pending' : 'Disabled';
    return { status, ingress: none, egress: none, errors: 0 };
  }

  /** Another number whenever something was counted; `undefined` while nothing can be. */
  get revision(): number | undefined {
    return this.#runner?.revision;
  }

  /** Whether a node may be in it; once it was applied, whether it is. */
  mayHold(nodeId: string): boolean {
    return this.#pipeline?.nodes.some(({ id }) => id === nodeId) ?? true;
  }

  entries(limit?: number): readonly LogEntry[] {
    return this.#log?.entries(limit) ?? [];
  }

  tail(signal: AbortSignal, after?: number): AsyncIterable<LogEntry> {
    return this.#logged().tail(AbortSignal.any([signal, this.#gone.signal]), after);
  }

  /** Stops; what is stored stays. */
  stop(): Promise<void> {
    return this.#inTurn(async () => {
      this.#gone.abort();
      try {
        await this.#runner?.stop();
      } finally {
        this.#runner = undefined;
        this.#open();
      }
    });
  }

  /** Stops, and forgets all there is of it. */
  remove(): Promise<void> {
    return this.#inTurn(async () => {
      this.#removed = true;
      this.#gone.abort();
      const { bus, coordinator } = this.tools;
      try {
        if (this.#runner) await this.#runner.remove();
        else await coordinator.forget(this.id);
        // A runner whose input could not be made knows of no buffer.
        for (const { id, component_type: type } of this.#pipeline?.nodes ?? [])
          if (type === 'input') await bus.remove(`${this.id}.${id}`);
        await rm(this.#folder, { recursive: true, force: true });
      } finally {
        this.#runner = undefined;
        this.#open();
      }
    });
  }

  get #folder(): string {
    return join(this.tools.folder, this.id);
  }

  async #make(row: RunningRow): Promise<void> {
    const { bus, coordinator, holder, clock, limits, vaultOf, reseal } = this.tools;
    const { id, nodes, edges, enabled, organizationId } = row.pipeline;
    const opened = openedOf(row, await vaultOf(organizationId), this.tools.catalog);
    const components = componentsOf(row, opened, this.tools);
    const reseals = [...opened.values()].flatMap((each) => each.reseals);
    await reseal(reseals);
    await this.#unmake(row);
    await coordinator.setDesired(id, enabled);
    const runner = new PipelineRunner({
      definition: { id, nodes, edges },
      components,
      bus,
      coordinator,
      holder,
      folder: this.#folder,
      log: this.#logged(),
      clock,
      limits: limits(),
    });
    try {
      await runner.start();
    } catch (error) {
      await runner.stop().catch(() => undefined);
      throw error;
    }
    this.#runner = runner;
    this.#fingerprint = fingerprintOf(withReseals(row, reseals));
    this.history.begin(runner.summary(enabled), clock.now());
    this.#open();
  }

  /** The runner before finishes what it had begun, and takes records in until then. */
  async #unmake(row: RunningRow): Promise<void> {
    const before = this.#runner;
    if (!before) return;
    this.#logged().add({ level: 'info', code: 'changed', message: 'The configuration has changed.' });
    await before.pause();
    this.#shut();
    await before.stop();
    this.#runner = undefined;
    const kept = new Set(row.pipeline.nodes.map(({ id }) => id));
    for (const node of this.#pipeline?.nodes ?? [])
      if (node.component_type === 'input' && !kept.has(node.id)) await this.tools.bus.remove(`${this.id}.${node.id}`);
  }

  /** From here on records wait for the next runner. */
  #shut(): void {
    this.#ready = new Promise((resolve) => {
      this.#open = () => {
        this.#ready = undefined;
        resolve();
      };
    });
  }

  #fail(): void {
    const message = 'It could not be started on this machine. It is tried again.';
    this.#failure = { at: this.tools.clock.now(), code: 'not_started', message };
    this.#logged().add({ level: 'error', code: 'not_started', message });
    if (!this.#runner) this.#open();
  }

  #logged(): PipelineLog {
    const { clock } = this.tools;
    return (this.#log ??= new PipelineLog(() => clock.now(), LOG_CAPACITY, clock.now()));
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

/** The row as it is once these are stored: sealing again is no change that the pipeline has to be made again for. */
function withReseals(row: RunningRow, reseals: readonly Reseal[]): RunningRow {
  const sealed = new Map(reseals.map((each) => [each.id, each.sealed]));
  return {
    ...row,
    secrets: row.secrets.map((secret) => ({ ...secret, sealed: sealed.get(secret.id) ?? secret.sealed })),
  };
}
