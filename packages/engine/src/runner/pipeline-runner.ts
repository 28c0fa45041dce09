import type { Lease } from '../coordinator/coordinator.js';
import type { PipelineStatus } from '../pipeline/definition.js';
import { inputOf } from '../pipeline/routes.js';
import { compileTransform } from '../transforms/compile-transform.js';
import { Beat } from './beat.js';
import { systemClock } from './clock.js';
import type { NodeCounts } from './counters.js';
import { failureOf, type Appended, type AppendOptions } from './ends.js';
import { Entrance } from './entrance.js';
import { LeaseKeeper } from './lease-keeper.js';
import { Observer } from './observer.js';
import { PipelineLog } from './pipeline-log.js';
import { observationIn, totalsOf, worst, type PipelineState } from './pipeline-state.js';
import { readPipelineState } from './read-pipeline-state.js';
import { Reporter } from './reporter.js';
import { missingPart, Run, type RunParts } from './run.js';
import { DEFAULT_LIMITS, type RunnerLimits, type RunnerOptions } from './runner-options.js';
import { statusOf } from './status.js';
import { createWorkMeans, type WorkMeans } from './work-means.js';

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
  readonly #means: WorkMeans;
  readonly #missing: ReturnType<typeof missingPart>;
  readonly #entrance: Entrance;
  readonly #observer: Observer;
  readonly #reporter: Reporter;
  readonly #keeper: LeaseKeeper;
  readonly #beat: Beat;
  #run: Run | undefined;

  constructor(options: RunnerOptions) {
    const { definition, components, bus, coordinator, holder } = options;
    const { id: pipelineId } = definition;
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.log = options.log ?? new PipelineLog(() => (options.clock ?? systemClock).now());
    this.#means = createWorkMeans(options, this.#limits, this.log, {
      counted: () => this.#beat.reportSoon(),
      changed: () => this.#beat.wake(),
    });
    const { clock, counters, health } = this.#means;
    this.#missing = missingPart(definition, components);
    const node = inputOf(definition);
    const input = node && components.inputs.get(node.id);
    this.#entrance = new Entrance(definition, node && input ? { nodeId: node.id, input } : undefined, bus, this.#means);
    this.#observer = new Observer({ bus, stream: this.#entrance.stream, counters, health, log: this.log });
    this.#reporter = new Reporter({ coordinator, pipelineId, clock, counters, observer: this.#observer });
    this.#keeper = new LeaseKeeper({
      coordinator,
      pipelineId,
      holder,
      clock,
      ttl: this.#limits.leaseTtl,
      taken: () => this.#taken(),
      lost: () => this.#lost(),
    });
    this.#beat = new Beat(clock, this.#limits, () => this.#lookSafely());
  }

  /**
   * Starts a push input and the reconcile loop. The pipeline runs as soon as the runner holds the
   * lease and the pipeline is enabled.
   */
  async start(): Promise<void> {
    const { coordinator, definition } = this.#options;
    this.#means.counters.load(observationIn((await coordinator.reported(definition.id))?.value ?? null)?.counts);
    await this.#entrance.open();
    this.#beat.start();
  }

  /**
   * Stores records of a push input.
   * @throws {BusError}
   */
  append(lines: readonly string[], options?: AppendOptions): Promise<Appended> {
    return this.#entrance.append(lines, options);
  }

  /** Finishes the current work, then pauses. Buffered records and cursors are kept. */
  async pause(): Promise<void> {
    await this.#options.coordinator.setDesired(this.#options.definition.id, false);
    await this.#beat.tick();
    await this.#run?.stop();
    await this.#beat.tick();
  }

  async resume(): Promise<void> {
    await this.#options.coordinator.setDesired(this.#options.definition.id, true);
    await this.#beat.tick();
  }

  /**
   * Returns the current state of the pipeline.
   * @param wanted desired state if the caller knows it; default: read from the coordinator
   */
  state(wanted?: boolean): Promise<PipelineState> {
    const { coordinator, definition } = this.#options;
    const token = this.#keeper.lease?.token;
    const live = token === undefined ? undefined : { token, observe: () => this.#observer.observe(this.#working) };
    return readPipelineState(coordinator, definition, this.#means.clock.now(), live, wanted);
  }

  /**
   * Returns the current state synchronously, without the nodes. The state of the buffer is that of
   * the last observation.
   * @param enabled desired state
   */
  summary(enabled: boolean): NodeCounts & { status: PipelineStatus } {
    const { clock, counters, health } = this.#means;
    const now = clock.now();
    const seen = { held: this.#keeper.lease !== undefined, heartbeatAt: now, working: this.#working };
    const facts = { enabled, ...seen, full: this.#observer.full, ...worst(Object.values(health.facts)) };
    return { status: statusOf(facts, now), ...totalsOf(this.#options.definition, counters) };
  }

  /** Returns whether the buffer is full now; always `false` for an input without a buffer. */
  async full(): Promise<boolean> {
    const { stream } = this.#entrance;
    return stream !== undefined && (await this.#options.bus.stats(stream)).full;
  }

  /** Increases whenever a counter changes. */
  get revision(): number {
    return this.#means.counters.revision;
  }

  /**
   * Finishes the current work, closes the input and releases the lease. Stored records are kept.
   */
  async stop(): Promise<void> {
    if (this.#beat.stopped) return;
    await this.#beat.stop();
    await this.#entrance.shut();
    await this.#run?.stop();
    await this.#beat.settled();
    await this.#entrance.closeInput();
    const lease = this.#keeper.letGo();
    if (!lease) return;
    this.log.add({ level: 'info', code: 'stopped', message: 'pipeline stopped; buffered records are kept' });
    try {
      await this.#report(lease, true);
      await this.#options.coordinator.release(lease);
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
    const { stream } = this.#entrance;
    if (stream !== undefined) await bus.remove(stream);
    await coordinator.forget(definition.id);
    await this.#means.deadLetters.remove();
  }

  get #working(): boolean {
    return this.#run !== undefined;
  }

  /** Failures are retried in the next run of the loop. */
  async #lookSafely(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      const { code } = failureOf(error);
      this.log.add({ level: 'error', code: 'coordinator', message: `The coordinator could not be reached (${code}).` });
      this.#keeper.loseExpired();
    }
  }

  async #look(): Promise<void> {
    const lease = await this.#keeper.hold();
    if (!lease || this.#beat.stopped) return;
    const { coordinator, definition } = this.#options;
    const enabled = (await coordinator.desired(definition.id))?.enabled ?? true;
    if (enabled && !this.#run && this.#missing === undefined) this.#begin(lease);
    if (!enabled && this.#run && !this.#run.stopping) {
      this.log.add({ level: 'info', code: 'pausing', message: 'draining' });
      void this.#run.stop();
    }
    await this.#report(lease, false);
  }

  async #taken(): Promise<void> {
    const { coordinator, definition, holder } = this.#options;
    const { counters, health } = this.#means;
    const reported = await coordinator.reported(definition.id);
    // Another worker has updated the counters in the meantime.
    if (reported && reported.holder !== holder) counters.load(observationIn(reported.value)?.counts);
    if (this.#missing === undefined) return;
    const { nodeId, code, message } = this.#missing;
    health.reset([nodeId]);
    health.failed(nodeId, { code, message, kind: 'permanent' }, 0);
  }

  #lost(): void {
    this.log.add({ level: 'warn', code: 'lease_lost', message: 'lease lost; another worker may run this pipeline' });
    this.#run?.abort();
  }

  #begin(lease: Lease): void {
    const { place, stream, door } = this.#entrance;
    if (!place) return;
    const { definition, components, bus, coordinator } = this.#options;
    const parts: RunParts = {
      definition,
      ...place,
      outputs: components.outputs,
      transforms: new Map([...components.transforms].map(([id, config]) => [id, compileTransform(config)])),
      bus,
      ...(stream !== undefined && { stream }),
      ...(door && { door }),
      coordinator,
      lease,
    };
    const run = new Run(parts, this.#means, this.#limits.grace);
    this.#run = run;
    this.log.add({ level: 'info', code: 'started', message: 'pipeline started' });
    void this.#finish(run);
  }

  async #finish(run: Run): Promise<void> {
    const end = await run.ended;
    this.#run = undefined;
    if (end === 'fenced') this.#keeper.lose();
    else if (!this.#beat.stopped) this.log.add({ level: 'info', code: 'paused', message: 'pipeline paused' });
    this.#beat.wake();
  }

  async #report(lease: Lease, always: boolean): Promise<void> {
    if (!(await this.#reporter.report(lease, this.#working, always))) this.#keeper.lose();
  }
}
