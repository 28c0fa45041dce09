import type { Lease } from '../coordinator/coordinator.js';
import type { ConsumerOptions } from '../bus/bus.js';
import type { PipelineStatus } from '../pipeline/definition.js';
import { consumersOf } from '../pipeline/overflow.js';
import { inputOf, routesOf } from '../pipeline/routes.js';
import { compileTransform } from '../transforms/compile-transform.js';
import { ReconcileLoop } from './reconcile-loop.js';
import { systemClock } from '../connector-api/clock.js';
import type { LetterCounts, NodeCounts } from '../pipeline/counters.js';
import type { DeadLetters } from '../delivery/dead-letters.js';
import { skipBacklog } from '../delivery/skip-backlog.js';
import { ConnectorError, failureOf } from '../connector-api/connector-error.js';
import type { Input, NotStored, Sink } from '../connector-api/input.js';
import type { DataRecord, JsonValue } from '../connector-api/record.js';
import { isSameSuspension, type Suspension } from '../connector-api/suspension.js';
import { IngestBuffer } from '../ingest/ingest-buffer.js';
import { Listener } from '../ingest/listener.js';
import { LeaseKeeper } from './lease-keeper.js';
import { Observer, type Backlog, type Losses } from './observer.js';
import { PipelineLog } from '../pipeline/pipeline-log.js';
import { observationIn, totalsOf, worst, type PipelineState } from '../pipeline/pipeline-state.js';
import { readPipelineState } from './read-pipeline-state.js';
import { Reporter } from './reporter.js';
import { missingPart, Run, type RunParts } from '../delivery/run.js';
import { DEFAULT_LIMITS, type RunnerLimits, type RunnerOptions } from '../delivery/runner-options.js';
import { statusOf } from '../pipeline/status.js';
import { createPipelineContext, type PipelineContext } from '../delivery/pipeline-context.js';

/** A record that waits for its next delivery attempt. Times in milliseconds since the epoch. */
export interface WaitingRecord {
  /** JSON of the record. */
  line: string;
  /** When it was ingested, or first tried. */
  since: number;
  failedAt: number;
  retryAt: number;
  attempts: number;
  error: string;
}

/** What a purge deleted. */
export interface Purged {
  records: number;
  deadLetters: number;
}

const streamOf = (pipelineId: string, nodeId: string): string => `${pipelineId}.${nodeId}`;

const CLOSED: Sink = { append: async () => ({ stored: false, reason: 'closed' }) };

/**
 * Runs one pipeline: holds its lease, reconciles it with the desired state, and reports its
 * observed state. Records of a push input are accepted and stored from `start` to `stop`, paused or
 * not.
 *
 * @example
 * ```ts
 * const runner = new PipelineRunner({
 *   definition,
 *   components: { inputs, outputs, transforms: new Map() },
 *   bus,
 *   coordinator,
 *   holder: 'worker-1',
 *   folder: '/var/lib/connector-frame/pipeline-1',
 * });
 * await runner.start();
 * // ...
 * await runner.stop();
 * ```
 */
export class PipelineRunner {
  readonly log: PipelineLog;
  readonly #options: RunnerOptions;
  readonly #limits: RunnerLimits;
  readonly #context: PipelineContext;
  readonly #missing: ReturnType<typeof missingPart>;
  readonly #input: { readonly nodeId: string; readonly input: Input } | undefined;
  readonly #buffer: IngestBuffer | undefined;
  readonly #listener: Listener | undefined;
  readonly #observer: Observer;
  readonly #reporter: Reporter;
  readonly #keeper: LeaseKeeper;
  readonly #loop: ReconcileLoop;
  #run: Run | undefined;
  #purging: Promise<unknown> = Promise.resolve();
  #isPurging = false;
  #isHandingOver = false;
  #isListening = false;
  #suspension: Suspension | undefined;
  /** Stream of the input; for a polled input set by `start`, if its records are buffered. */
  #stream: string | undefined;

  constructor(options: RunnerOptions) {
    const { definition, components, bus, coordinator, holder } = options;
    const { id: pipelineId } = definition;
    this.#options = options;
    this.#suspension = options.suspension;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.log = options.log ?? new PipelineLog(() => (options.clock ?? systemClock).now());
    this.#context = createPipelineContext(options, this.#limits, this.log, {
      onCount: () => this.#loop.reportSoon(),
      onChange: () => this.#loop.wake(),
    });
    const { clock, counters, health } = this.#context;
    if (options.isShared) counters.divert();
    this.#missing = missingPart(definition, components);
    const node = inputOf(definition);
    const input = node && components.inputs.get(node.id);
    this.#input = node && input && { nodeId: node.id, input };
    if (node && input?.kind === 'push') {
      const stream = streamOf(pipelineId, node.id);
      this.#stream = stream;
      this.#buffer = new IngestBuffer({ bus, stream, pipelineId, nodeId: node.id, context: this.#context });
      this.#listener = new Listener(node.id, input, this.#context);
    }
    this.#observer = new Observer({
      bus,
      inputId: node?.id,
      counters,
      health,
      deadLetters: this.#context.deadLetters,
      log: this.log,
      suspension: () => this.#suspension,
    });
    this.#reporter = new Reporter({
      coordinator,
      pipelineId,
      clock,
      counters,
      observer: this.#observer,
      onBacklog: options.isShared ? () => this.#loop.reportSoon() : undefined,
    });
    this.#keeper = new LeaseKeeper({
      coordinator,
      pipelineId,
      holder,
      clock,
      ttl: this.#limits.leaseTtl,
      onAcquired: () => this.#onAcquired(),
      onLost: () => this.#onLost(),
    });
    this.#loop = new ReconcileLoop(clock, this.#limits, () => this.#reconcileSafely());
  }

  /**
   * Starts a push input and the reconcile loop. The pipeline runs as soon as the runner holds the
   * lease and the pipeline is enabled.
   */
  async start(): Promise<void> {
    const { coordinator, definition } = this.#options;
    this.#context.counters.load(observationIn((await coordinator.reported(definition.id))?.value ?? null)?.counts);
    // Only outputs on a path are consumers: records for any other output would fill the buffer.
    const consumers = consumersOf(definition);
    this.#buffer?.suspend(this.#suspension);
    await this.#buffer?.open(consumers);
    // Of several processes, only the holder of the lease knows whether the buffer is needed.
    if (this.#options.isShared !== true) await this.#openPageStream(consumers);
    await this.#observer.begin(this.#stream);
    if (!this.#isExclusive) await this.#startListening();
    this.#loop.start();
  }

  /** Only the holder of the lease receives: see `PushInput.isExclusive`. */
  get #isExclusive(): boolean {
    const input = this.#input?.input;
    return this.#options.isShared === true && input?.kind === 'push' && input.isExclusive === true;
  }

  async #startListening(): Promise<void> {
    if (!this.#buffer || this.#isListening) return;
    this.#isListening = true;
    await this.#listener?.open(this.#buffer);
  }

  /**
   * Opens the stream of a polled input. With one output, its records are delivered directly,
   * unless some are left in the buffer from when there were more.
   */
  async #openPageStream(consumers: readonly ConsumerOptions[]): Promise<void> {
    if (this.#input?.input.kind !== 'pages') return;
    const { bus, definition } = this.#options;
    const stream = streamOf(definition.id, this.#input.nodeId);
    await bus.declare(stream, consumers);
    this.#stream = stream;
    if (consumers.length > 1 || (await bus.stats(stream)).batches > 0) return;
    await bus.remove(stream);
    this.#stream = undefined;
  }

  /** Whether this process holds the lease. */
  get isHeld(): boolean {
    return this.#keeper.lease !== undefined;
  }

  /** The runner can't run the pipeline again after it was lost or handed over: its input is closed. */
  get isSpent(): boolean {
    return this.#isExclusive && this.#isListening && !this.isHeld;
  }

  /** Reconciles now: the lease may have become available, or was lost. */
  reconcile(): Promise<void> {
    return this.#loop.tick();
  }

  /**
   * Finishes the current work, reports, and releases the lease, so that another process runs the
   * pipeline. Records of a push input are still accepted.
   */
  async handOver(): Promise<void> {
    this.#isHandingOver = true;
    try {
      if (this.#isExclusive && this.#isListening) await this.#close(() => this.#listener?.close());
      await this.#run?.stop();
      await this.#loop.settled();
      const lease = this.#keeper.detach();
      if (!lease) return;
      this.log.add({ level: 'info', code: 'handed_over', message: 'pipeline handed over to another process' });
      // What is counted from now on is not in the last report.
      if (this.#options.isShared) this.#context.counters.divert();
      await this.#release(lease);
      this.#options.onReleased?.();
    } finally {
      this.#isHandingOver = false;
    }
  }

  /** Returns what was counted while another process ran the pipeline, and forgets it. */
  takeDivertedCounts(): DataRecord | undefined {
    return this.#context.counters.takeDiverted();
  }

  /** Adds what another process has counted. Only while this process holds the lease. */
  addCounts(counts: JsonValue): void {
    this.#context.counters.merge(counts);
  }

  /** Stores records of a push input; reports `closed` if the pipeline has none. */
  get sink(): Sink {
    return this.#buffer ?? CLOSED;
  }

  /** Finishes the current work, then pauses. Buffered records and cursors are kept. */
  async pause(): Promise<void> {
    await this.#options.coordinator.setDesired(this.#options.definition.id, false);
    await this.#loop.tick();
    await this.#run?.stop();
    await this.#loop.tick();
  }

  async resume(): Promise<void> {
    await this.#options.coordinator.setDesired(this.#options.definition.id, true);
    await this.#loop.tick();
  }

  /**
   * Holds the pipeline back although it is enabled, or ends that. Unlike a paused pipeline, it accepts
   * no records either. Finishes the current work first; buffered records and cursors are kept.
   * @param suspension why; `undefined`: the pipeline runs again if it is enabled
   */
  async suspend(suspension: Suspension | undefined): Promise<void> {
    if (isSameSuspension(suspension, this.#suspension)) return;
    const before = this.#suspension;
    this.#suspension = suspension;
    this.#buffer?.suspend(suspension);
    const isTold = this.isHeld || this.#options.isShared !== true;
    if (!isTold) return;
    if (suspension) this.log.add({ level: 'warn', code: 'suspended', message: suspension.message });
    else if (before) this.log.add({ level: 'info', code: 'unsuspended', message: 'suspension ended' });
    await this.#loop.tick();
    if (suspension) await this.#run?.stop();
    await this.#loop.tick();
  }

  /**
   * Returns the current state of the pipeline.
   * @param enabled desired state if the caller knows it; default: read from the coordinator
   */
  state(enabled?: boolean): Promise<PipelineState> {
    const { coordinator, definition } = this.#options;
    const token = this.#keeper.lease?.token;
    const live = token === undefined ? undefined : { token, observe: () => this.#observer.observe(this.#working) };
    return readPipelineState(coordinator, definition, this.#context.clock.now(), live, enabled);
  }

  /**
   * Returns the current state synchronously, without the nodes. The state of the buffer is that of
   * the last observation.
   * @param enabled desired state
   */
  summary(enabled: boolean): NodeCounts & { status: PipelineStatus } {
    const { clock, counters, health } = this.#context;
    const now = clock.now();
    const observed = { held: this.#keeper.lease !== undefined, heartbeatAt: now, working: this.#working };
    const isEnabled = enabled && !this.#suspension;
    const facts = { enabled: isEnabled, ...observed, full: this.#observer.full, ...worst(Object.values(health.facts)) };
    return { status: statusOf(facts, now), ...totalsOf(this.#options.definition, counters) };
  }

  /** Returns what waits for each output, by node id. Empty if the records are not buffered. */
  backlogs(): Promise<Record<string, Backlog>> {
    return this.#observer.backlogs();
  }

  /** Attempts to read or write that failed while a node was erroring, since the pipeline was created. */
  get failedAttempts(): number {
    return this.#context.counters.allFailedAttempts;
  }

  /** Total counts of dead letters since the pipeline was created. */
  get letters(): LetterCounts {
    return this.#context.counters.allLetters;
  }

  /** Continues what waits for changes of the dead letters, because another process has made some. */
  lettersChanged(): void {
    this.#context.deadLetters.wake();
    this.#context.space.endAll();
  }

  /** The dead letters of all nodes. */
  get deadLetters(): DeadLetters {
    return this.#context.deadLetters;
  }

  /**
   * Ends all waits before a retry, so that what failed is tried at once. Returns how many waits
   * there were.
   */
  retryNow(): number {
    const count = this.#context.retries.endAll() + this.#context.space.endAll();
    if (count > 0) this.log.add({ level: 'info', code: 'retry_now', message: 'retrying now, as requested' });
    return count;
  }

  /**
   * Reads a polled input now, unless it is being read. Returns whether the input is polled.
   */
  trigger(): boolean {
    if (this.#input?.input.kind !== 'pages') return false;
    // Without a wait until the next read, the input may wait to be retried.
    if (this.#context.polls.endAll() === 0) this.retryNow();
    return true;
  }

  /**
   * Returns records that could not be delivered to a node yet, oldest first.
   * @param limit maximum number of records
   */
  waitingRecords(nodeId: string, limit: number): WaitingRecord[] {
    const { waiting, health, clock } = this.#context;
    const retryAt = health.facts[nodeId]?.failure?.retryAt;
    const records: WaitingRecord[] = [];
    for (const delivery of waiting) {
      const undecided = delivery.nodeId === nodeId ? delivery.undecided : undefined;
      if (!undecided) continue;
      const { batch, attempts, startedAt, failedAt, failure } = undecided;
      for (const line of batch.lines.slice(0, limit - records.length))
        records.push({
          line,
          since: batch.at ?? startedAt,
          failedAt,
          retryAt: retryAt ?? clock.now(),
          attempts,
          error: `${failure.code}: ${failure.message}`,
        });
    }
    return records;
  }

  /**
   * Deletes the buffered records and the dead letters of a node, or of all nodes. The buffer belongs
   * to the input: for an output, only its own backlog is deleted; the other outputs keep theirs.
   * Pauses the pipeline meanwhile.
   * @throws {ConnectorError} `not_running` if this process does not hold the pipeline
   */
  async purge(nodeId?: string): Promise<Purged> {
    if (!this.#keeper.lease) throw new ConnectorError('not_running', 'Another process runs this pipeline.');
    const purging = this.#purging.then(() => this.#purge(nodeId));
    this.#purging = purging.catch(() => undefined);
    return purging;
  }

  async #purge(nodeId: string | undefined): Promise<Purged> {
    this.#isPurging = true;
    try {
      await this.#run?.stop();
      const { bus, definition } = this.#options;
      const inputId = this.#input?.nodeId;
      let records = 0;
      const stream = this.#stream;
      for (const output of routesOf(definition).keys())
        if (stream !== undefined && (nodeId === undefined || nodeId === inputId || nodeId === output))
          records += await skipBacklog(bus, stream, output, this.#context.clock);
      const deadLetters = await this.#context.deadLetters.purge(nodeId);
      const message = `purged on request: ${records} buffered records and ${deadLetters} dead letters deleted`;
      this.log.add({ level: 'warn', code: 'purged', message, ...(nodeId !== undefined && { nodeId }) });
      return { records, deadLetters };
    } finally {
      this.#isPurging = false;
      this.#loop.wake();
    }
  }

  /**
   * Returns why the buffer accepts no records now. `undefined` if it does, or if the input has
   * none.
   */
  async full(): Promise<NotStored | undefined> {
    if (this.#stream === undefined) return undefined;
    const suspension = this.#suspension;
    if (suspension) return { stored: false, reason: 'suspended', suspension };
    const { full, noSpace } = await this.#options.bus.stats(this.#stream);
    return noSpace || full ? { stored: false, reason: noSpace ? 'no_space' : 'full' } : undefined;
  }

  /** Records that were dropped or lost since this runner started, at the last observation. */
  get losses(): Losses {
    return this.#observer.losses;
  }

  /** Increases whenever a counter changes. */
  get revision(): number {
    return this.#context.counters.revision;
  }

  /**
   * Finishes the current work, closes the input and releases the lease. Stored records are kept.
   * @param keepsLease the next runner of this process continues with the lease
   */
  async stop(keepsLease = false): Promise<void> {
    if (this.#loop.stopped) return;
    await this.#loop.stop();
    await this.#close(() => this.#listener?.close());
    await this.#buffer?.close();
    await this.#run?.stop();
    await this.#loop.settled();
    // The listener closes a push input.
    const input = this.#input?.input;
    if (input?.kind === 'pages') await this.#close(() => input.close?.());
    await this.#context.deadLetters.close();
    const lease = this.#keeper.detach();
    if (!lease) return;
    this.log.add({ level: 'info', code: 'stopped', message: 'pipeline stopped; buffered records are kept' });
    await this.#release(lease, keepsLease);
  }

  /** Reports and releases a lease that was detached. */
  async #release(lease: Lease, keepsLease = false): Promise<void> {
    try {
      await this.#report(lease, true);
      if (!keepsLease) await this.#options.coordinator.release(lease);
    } catch (error) {
      // The lease will expire.
      const { code } = failureOf(error);
      this.log.add({ level: 'error', code: 'coordinator', message: `final report failed (${code})` });
    }
  }

  /** Stops, and deletes the buffer, cursor, counters and dead letters. */
  async remove(): Promise<void> {
    await this.stop();
    const { bus, coordinator, definition } = this.#options;
    if (this.#stream !== undefined) await bus.remove(this.#stream);
    await coordinator.forget(definition.id);
    await this.#context.deadLetters.remove();
  }

  /** An input that fails to close must not block the shutdown. */
  async #close(close: () => Promise<void> | undefined): Promise<void> {
    try {
      await close();
    } catch (error) {
      const { code } = failureOf(error);
      this.log.add({ level: 'warn', code: 'close_failed', message: `The input could not be closed (${code}).` });
    }
  }

  get #working(): boolean {
    return this.#run !== undefined;
  }

  /** Failures are retried in the next run of the loop. */
  async #reconcileSafely(): Promise<void> {
    try {
      await this.#reconcile();
    } catch (error) {
      const { code } = failureOf(error);
      this.log.add({ level: 'error', code: 'coordinator', message: `The coordinator could not be reached (${code}).` });
      this.#keeper.loseExpired();
    }
  }

  async #reconcile(): Promise<void> {
    const lease = await this.#keeper.hold();
    if (!lease || this.#loop.stopped) return;
    const { coordinator, definition } = this.#options;
    const enabled = ((await coordinator.desired(definition.id))?.enabled ?? true) && !this.#suspension;
    if (enabled && !this.#run && !this.#isPurging && !this.#isHandingOver && this.#missing === undefined)
      this.#begin(lease);
    if (!enabled && this.#run && !this.#run.stopping) {
      this.log.add({ level: 'info', code: 'pausing', message: 'draining' });
      void this.#run.stop();
    }
    await this.#report(lease, false);
  }

  async #onAcquired(): Promise<void> {
    const { coordinator, definition, holder } = this.#options;
    const { counters, health } = this.#context;
    const reported = await coordinator.reported(definition.id);
    // Another worker has updated the counters in the meantime.
    if (reported && reported.holder !== holder) counters.load(observationIn(reported.value)?.counts);
    counters.rejoin();
    if (this.#options.isShared) {
      await this.#openPageStream(consumersOf(definition));
      await this.#observer.begin(this.#stream);
    }
    this.#options.onAcquired?.();
    if (this.#isExclusive) await this.#startListening();
    if (this.#missing === undefined) return;
    const { nodeId, code, message } = this.#missing;
    health.reset([nodeId]);
    health.failed(nodeId, { code, message, kind: 'permanent' }, 0);
  }

  #onLost(): void {
    this.log.add({ level: 'warn', code: 'lease_lost', message: 'lease lost; another worker may run this pipeline' });
    this.#run?.abort();
    if (!this.#options.isShared) return;
    this.#context.counters.divert();
    if (this.#isExclusive && this.#isListening) void this.#close(() => this.#listener?.close());
    this.#options.onReleased?.();
  }

  #begin(lease: Lease): void {
    if (!this.#input) return;
    const { definition, components, bus, coordinator } = this.#options;
    const parts: RunParts = {
      definition,
      ...this.#input,
      outputs: components.outputs,
      enrichments: components.enrichments ?? new Map(),
      transforms: new Map([...components.transforms].map(([id, config]) => [id, compileTransform(config, components)])),
      bus,
      ...(this.#stream !== undefined && { stream: this.#stream }),
      reportListener: () => this.#listener?.reportState(),
      coordinator,
      lease,
    };
    const run = new Run(parts, this.#context, this.#limits.grace);
    this.#run = run;
    this.log.add({ level: 'info', code: 'started', message: 'pipeline started' });
    void this.#finish(run);
  }

  async #finish(run: Run): Promise<void> {
    const end = await run.ended;
    this.#run = undefined;
    if (end === 'fenced') this.#keeper.lose();
    else if (!this.#loop.stopped) this.log.add({ level: 'info', code: 'paused', message: 'pipeline paused' });
    this.#loop.wake();
  }

  async #report(lease: Lease, always: boolean): Promise<void> {
    if (!(await this.#reporter.report(lease, this.#working, always))) this.#keeper.lose();
  }
}
