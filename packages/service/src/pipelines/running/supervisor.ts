import { setMaxListeners } from 'node:events';
import {
  stateOf,
  type AppendOptions,
  type LogEntry,
  type NewLogEntry,
  type PipelineState,
  type RecordSample,
} from '@connector-frame/engine';
import type { Logger } from 'pino';
import { describeError } from '../../describe-error.js';
import type { RunningPipelines, RunningRow } from '../../store/running-pipelines.js';
import type { Pipeline } from '../../store/store.js';
import type {
  FollowedEntry,
  Ingested,
  LogFilter,
  LogStart,
  PipelineDelivery,
  PipelineEngine,
  PipelineMetrics,
  PipelineSchemas,
} from '../engine.js';
import { RETRY_MS, ChangeReader } from './change-reader.js';
import { InputIndex } from './input-index.js';
import { INTERVAL_SECONDS } from './metrics-history.js';
import { RunningPipeline, type RunningTools } from './running-pipeline.js';
import { Semaphore } from '../../semaphore.js';

export interface SupervisorOptions {
  pipelines: RunningPipelines;
  tools: RunningTools;
  log: Logger;
  /** Called when alert rules have changed. */
  onRulesChanged?: () => void;
}

/** Milliseconds that appended records wait for changes that have not been read yet. */
const PATIENCE_MS = 5_000;
/** Pipelines that are started or changed concurrently. */
const MAX_CONCURRENT = 16;
/** Rows per page. On the embedded database, each page blocks the process briefly. */
const SWEEP_PAGE = 250;

const CLOSED: Ingested = { stored: false, reason: 'closed' };
const UNKNOWN: Ingested = { stored: false, reason: 'unknown' };
const NO_PIPELINE: Ingested = { stored: false, reason: 'no_pipeline' };

/** Keeps one runner per pipeline and reconciles it with the database. */
export class Supervisor implements PipelineEngine {
  readonly #options: SupervisorOptions;
  readonly #running = new Map<string, RunningPipeline>();
  readonly #index = new InputIndex();
  readonly #slots = new Semaphore(MAX_CONCURRENT);
  readonly #closing = new AbortController();
  readonly #reader: ChangeReader;
  #starting: Promise<void> | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    setMaxListeners(0, this.#closing.signal);
    this.#reader = new ChangeReader({
      load: (ids) => options.pipelines.load(ids),
      apply: (id, row) => this.#apply(id, row),
      failed: (error) => this.#logFailure(error, 'could not read pipelines; retrying'),
      clock: options.tools.clock,
      closing: this.#closing.signal,
    });
  }

  /** Resolves once every pipeline has started or failed to start. */
  start(): Promise<void> {
    return (this.#starting ??= this.#start());
  }

  /** Returns all pipelines of this process. */
  running(): Iterable<RunningPipeline> {
    return this.#running.values();
  }

  /**
   * Returns whether the pipeline exists and, if `nodeId` is given, may contain that node.
   * @param nodeId any node is possible in a pipeline that has not been read yet
   */
  has(id: string, nodeId?: string): boolean {
    const running = this.#running.get(id);
    return running !== undefined && (nodeId === undefined || running.mayContain(nodeId));
  }

  /** Returns a pipeline as it was applied last. */
  pipeline(id: string): Pipeline | undefined {
    return this.#running.get(id)?.pipeline;
  }

  /** Applies that a pipeline was assigned to this process or another one. */
  assignmentChanged(id: string): void {
    void this.#running.get(id)?.assignmentChanged();
  }

  /** Lets another process run a pipeline. Never rejects. */
  async handOver(id: string): Promise<void> {
    await this.#running.get(id)?.handOver();
  }

  /** Returns a pipeline of this process. */
  runningOf(id: string): RunningPipeline | undefined {
    return this.#running.get(id);
  }

  async status(pipeline: Pick<Pipeline, 'id' | 'nodes' | 'edges' | 'enabled'>): Promise<PipelineState> {
    const running = this.#running.get(pipeline.id);
    if (running) return running.state(pipeline);
    return stateOf(pipeline, { enabled: pipeline.enabled, held: false }, this.#options.tools.clock.now());
  }

  changed(pipelineId: string, nodes?: Pipeline['nodes']): void {
    if (this.#closing.signal.aborted) return;
    if (nodes) this.#index.set(this.#ofId(pipelineId), inputsOf(nodes));
    this.#reader.enqueue(pipelineId, true);
  }

  rulesChanged(): void {
    this.#options.onRulesChanged?.();
  }

  delivery(pipelineId: string): PipelineDelivery | undefined {
    return this.#running.get(pipelineId)?.delivery;
  }

  samples(pipelineId: string, nodeId: string, signal: AbortSignal): AsyncIterable<RecordSample> | undefined {
    return this.#running.get(pipelineId)?.samples(nodeId, AbortSignal.any([signal, this.#closing.signal]));
  }

  schemas(pipelineId: string): PipelineSchemas | undefined {
    return this.#running.get(pipelineId)?.schemas;
  }

  metrics(pipelineId: string): PipelineMetrics {
    const points = this.#running.get(pipelineId)?.history.points(this.#options.tools.clock.now()) ?? [];
    return { intervalSeconds: INTERVAL_SECONDS, points };
  }

  log(pipelineId: string, limit?: number): readonly LogEntry[] {
    return this.#running.get(pipelineId)?.entries(limit) ?? [];
  }

  async *tail(pipelineId: string, signal: AbortSignal, after?: number): AsyncGenerator<LogEntry, void, void> {
    const over = AbortSignal.any([signal, this.#closing.signal]);
    // A pipeline that was just created may not have been read yet.
    if (!this.#running.has(pipelineId)) await this.#reader.caughtUp(over);
    const running = this.#running.get(pipelineId);
    if (running) yield* running.tail(over, after);
  }

  followLogs(filter: LogFilter, signal: AbortSignal, start?: LogStart): AsyncIterable<FollowedEntry> {
    return this.#options.tools.logs.follow(filter, AbortSignal.any([signal, this.#closing.signal]), start);
  }

  logRequest(organizationId: string, entry: NewLogEntry): void {
    this.#options.tools.logs.ofApi(organizationId).add(entry);
  }

  async append(connectorId: string, lines: readonly string[], options?: AppendOptions): Promise<Ingested> {
    if (this.#closing.signal.aborted) return CLOSED;
    // Another process may have just reported a new pipeline of this input.
    if (this.#index.of(connectorId).size === 0)
      await this.#reader.caughtUp(AbortSignal.any([this.#closing.signal, AbortSignal.timeout(PATIENCE_MS)]));
    const pipelines = [...this.#index.of(connectorId)];
    const [first] = pipelines;
    if (!first && this.#closing.signal.aborted) return CLOSED;
    if (!first) return this.#reader.isStale ? UNKNOWN : NO_PIPELINE;
    for (const each of pipelines) this.#reader.prioritize(each.id);
    if (pipelines.length === 1) return (await first.append(lines, options)) ?? NO_PIPELINE;
    // After a rejection, the sender sends all records again, which would duplicate them in every
    // pipeline that stored them: append to none if one is full.
    const full = (await Promise.all(pipelines.map((each) => each.full()))).find((each) => each !== undefined);
    if (full) return full;
    const results = await Promise.all(pipelines.map((each) => each.append(lines, options)));
    // Ignores pipelines that were removed in the meantime.
    const existing = results.filter((result) => result !== undefined);
    return existing.find((result) => !result.stored) ?? existing[0] ?? NO_PIPELINE;
  }

  /** Applies the suspension of an organization to its pipelines. */
  suspend(organizationId: string): void {
    for (const each of this.#of(organizationId))
      each.suspend().catch((error: unknown) => this.#logFailure(error, 'could not apply a suspension', each.id));
  }

  /** Adds a warning to the logs of all pipelines of an organization. */
  warn(organizationId: string, code: string, message: string): void {
    for (const each of this.#of(organizationId)) each.warn(code, message);
  }

  /** Compares all pipelines with the database, to find changes without a notification. */
  async sweep(): Promise<void> {
    const unseen = new Set(this.#running.keys());
    for (let after = ''; !this.#closing.signal.aborted;) {
      const page = await this.#options.pipelines.stamps(after, SWEEP_PAGE);
      for (const { id, stamp } of page) {
        unseen.delete(id);
        if (this.#running.get(id)?.stamp !== stamp) this.#reader.enqueue(id);
      }
      const last = page.at(-1);
      if (!last || page.length < SWEEP_PAGE) break;
      after = last.id;
    }
    for (const id of unseen) this.#reader.enqueue(id);
  }

  /** Stops accepting records and lets each pipeline finish its current work. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#reader.end();
    await this.#starting;
    await Promise.all([...this.#running.values()].map((each) => each.stop()));
  }

  async #start(): Promise<void> {
    const { pipelines } = this.#options;
    await this.#retry(async () => {
      for (let after = ''; !this.#closing.signal.aborted;) {
        const page = await pipelines.inputs(after, SWEEP_PAGE);
        for (const { pipelineId, connectorId } of page) this.#index.set(this.#ofId(pipelineId), [connectorId]);
        const last = page.at(-1);
        if (!last || page.length < SWEEP_PAGE) break;
        after = last.pipelineId;
      }
      await this.sweep();
    });
    await this.#reader.start();
  }

  /**
   * Never rejects. Retries a failed start; the next start of the engine retries a failed removal.
   */
  async #apply(id: string, row: RunningRow | undefined): Promise<void> {
    const running = this.#running.get(id);
    if (!row) {
      if (!running) return;
      this.#running.delete(id);
      this.#index.set(running, []);
      try {
        await this.#slots.run(() => running.remove());
      } catch (error) {
        this.#logFailure(error, 'could not clean up removed pipeline; the next start retries', id);
      }
      return;
    }
    const own = this.#ofId(id);
    this.#index.set(own, inputsOf(row.pipeline.nodes));
    try {
      await this.#slots.run(() => own.apply(row));
    } catch (error) {
      this.#logFailure(error, 'could not start pipeline; retrying', id);
      void this.#later(id);
    }
  }

  #of(organizationId: string): RunningPipeline[] {
    return [...this.#running.values()].filter((each) => each.organizationId === organizationId);
  }

  #ofId(id: string): RunningPipeline {
    const known = this.#running.get(id);
    if (known) return known;
    const made = new RunningPipeline(id, this.#options.tools);
    this.#running.set(id, made);
    return made;
  }

  async #later(id: string): Promise<void> {
    await this.#pause();
    this.#reader.enqueue(id);
  }

  #pause(): Promise<void> {
    return this.#options.tools.clock.sleep(RETRY_MS, this.#closing.signal);
  }

  /** Retries until `work` succeeds or the supervisor closes. */
  async #retry(work: () => Promise<void>): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        return await work();
      } catch (error) {
        this.#logFailure(error, 'could not list pipelines; retrying');
        await this.#pause();
      }
    }
  }

  #logFailure(error: unknown, message: string, pipelineId?: string): void {
    this.#options.log.warn({ ...(pipelineId && { pipeline_id: pipelineId }), problem: describeError(error) }, message);
  }
}

const inputsOf = (nodes: Pipeline['nodes']): string[] => [
  ...new Set(nodes.filter((node) => node.component_type === 'input' && node.enabled).map((node) => node.component_id)),
];
