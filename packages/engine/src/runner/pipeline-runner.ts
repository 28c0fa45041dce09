import { join } from 'node:path';
import type { Lease } from '../coordinator/coordinator.js';
import type { PipelineStatus } from '../pipeline/definition.js';
import { inputOf, routesOf } from '../pipeline/routes.js';
import { compileTransform } from '../transforms/compile-transform.js';
import { createBackoff } from './backoff.js';
import { QUIETLY, systemClock, type Clock } from './clock.js';
import { Counters, type NodeCounts } from './counters.js';
import { DeadLetters } from './dead-letters.js';
import type { Work } from './deliver.js';
import { Door } from './door.js';
import { failureOf, type Appended, type AppendOptions, type Input } from './ends.js';
import { Health } from './health.js';
import { Intake } from './intake.js';
import { Observer } from './observer.js';
import { PipelineLog } from './pipeline-log.js';
import { observationIn, reportOf, totalsOf, worst, type Observation, type PipelineState } from './pipeline-state.js';
import { readPipelineState } from './read-pipeline-state.js';
import { missingPart, Run, type RunParts } from './run.js';
import { DEFAULT_LIMITS, type RunnerLimits, type RunnerOptions } from './runner-options.js';
import { statusOf } from './status.js';

/** Heartbeats may be this far apart when there is no other news. */
const QUIET = 5_000;

/**
 * Runs one pipeline: holds its lease, does what is wanted of it, says how it goes. Pushed records are taken in and
 * stored from `start` to `stop`, paused or not.
 */
export class PipelineRunner {
  readonly log: PipelineLog;
  readonly #options: RunnerOptions;
  readonly #limits: RunnerLimits;
  readonly #clock: Clock;
  readonly #counters: Counters;
  readonly #health: Health;
  readonly #deadLetters: DeadLetters;
  readonly #input: { nodeId: string; input: Input } | undefined;
  readonly #missing: ReturnType<typeof missingPart>;
  readonly #observer: Observer;
  #intake: Intake | undefined;
  #door: Door | undefined;
  #lease: Lease | undefined;
  #run: Run | undefined;
  #reported: { revision: string; at: number } | undefined;
  #turn: Promise<void> = Promise.resolve();
  #loop: Promise<void> | undefined;
  #ended = false;
  #reporting = false;
  readonly #stopped = new AbortController();
  #wake = new AbortController();

  constructor(options: RunnerOptions) {
    const { definition, components, folder, clock = systemClock } = options;
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#clock = clock;
    const now = (): number => clock.now();
    this.log = options.log ?? new PipelineLog(now);
    this.#counters = new Counters(
      definition.nodes.map(({ id }) => id),
      undefined,
      () => this.#reportSoon(),
    );
    this.#health = new Health(
      now,
      (entry) => this.log.add(entry),
      () => this.#wake.abort(QUIETLY),
    );
    this.#deadLetters = new DeadLetters(join(folder, 'dead-letters.ndjson'), this.#limits.deadLetters, now);
    this.#missing = missingPart(definition, components);
    const node = inputOf(definition);
    const input = node && components.inputs.get(node.id);
    this.#input = node && input ? { nodeId: node.id, input } : undefined;
    this.#observer = new Observer({
      bus: options.bus,
      stream: this.#stream,
      counters: this.#counters,
      health: this.#health,
      log: this.log,
    });
  }

  /** Opens the door of a pushed input, and begins to work as soon as it holds the lease and is wanted. */
  async start(): Promise<void> {
    const { coordinator, definition } = this.#options;
    this.#counters.load(observationIn((await coordinator.reported(definition.id))?.value ?? null)?.counts);
    await this.#openDoor();
    this.#loop ??= this.#beat();
  }

  /** Takes records in, for an input that is pushed to. @throws BusError */
  append(lines: readonly string[], options?: AppendOptions): Promise<Appended> {
    return this.#intake?.append(lines, options) ?? Promise.resolve({ stored: false, reason: 'closed' });
  }

  /** Finishes what was begun, then rests. What is in the buffer stays there; a cursor stays where it is. */
  async pause(): Promise<void> {
    await this.#options.coordinator.setDesired(this.#options.definition.id, false);
    await this.#tick();
    await this.#run?.stop();
    await this.#tick();
  }

  async resume(): Promise<void> {
    await this.#options.coordinator.setDesired(this.#options.definition.id, true);
    await this.#tick();
  }

  /** How it does, as of now. @param wanted what the caller knows to be wanted; absent: what the coordinator says */
  state(wanted?: boolean): Promise<PipelineState> {
    const { coordinator, definition } = this.#options;
    const token = this.#lease?.token;
    const live = token === undefined ? undefined : { token, observe: () => this.#observe() };
    return readPipelineState(coordinator, definition, this.#clock.now(), live, wanted);
  }

  /** As `state`, at once and without its nodes; the buffer as it was at the last look. @param enabled what is wanted */
  summary(enabled: boolean): NodeCounts & { status: PipelineStatus } {
    const now = this.#clock.now();
    const seen = { held: this.#lease !== undefined, heartbeatAt: now, working: this.#run !== undefined };
    const facts = { enabled, ...seen, full: this.#observer.full, ...worst(Object.values(this.#health.facts)) };
    return { status: statusOf(facts, now), ...totalsOf(this.#options.definition, this.#counters) };
  }

  /** The buffer takes no more, as of now; never for an input that can be read again. */
  async full(): Promise<boolean> {
    return this.#stream !== undefined && (await this.#options.bus.stats(this.#stream)).full;
  }

  /** Rises whenever something was counted. */
  get revision(): number {
    return this.#counters.revision;
  }

  /** Finishes what was begun, closes the door and gives the lease back. What is stored stays. */
  async stop(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopped.abort(QUIETLY);
    this.#wake.abort(QUIETLY);
    await this.#loop;
    await this.#closing(() => this.#door?.close());
    await this.#intake?.close();
    await this.#run?.stop();
    await this.#turn;
    await this.#closeInput();
    const lease = this.#lease;
    if (!lease) return;
    this.log.add({ level: 'info', code: 'stopped', message: 'Stopped. What is stored stays.' });
    this.#lease = undefined;
    try {
      await this.#report(lease, true);
      await this.#options.coordinator.release(lease);
    } catch (error) {
      // The lease runs out by itself.
      const { code } = failureOf(error);
      this.log.add({ level: 'error', code: 'coordinator', message: `The last report could not be made (${code}).` });
    }
  }

  /** Of one that is read, once nobody reads it any more; that of a pushed one is its door's. */
  async #closeInput(): Promise<void> {
    const { input } = this.#input ?? {};
    if (input?.kind === 'pages') await this.#closing(() => input.close?.());
  }

  /** What can not be closed must not keep the rest from ending. */
  async #closing(close: () => Promise<void> | undefined): Promise<void> {
    try {
      await close();
    } catch (error) {
      const { code } = failureOf(error);
      this.log.add({ level: 'warn', code: 'close_failed', message: `The input could not be closed (${code}).` });
    }
  }

  /** Stops, and forgets buffer, cursor, counts and dead letters. */
  async remove(): Promise<void> {
    await this.stop();
    const { bus, coordinator, definition } = this.#options;
    if (this.#stream !== undefined) await bus.remove(this.#stream);
    await coordinator.forget(definition.id);
    await this.#deadLetters.remove();
  }

  get #stream(): string | undefined {
    return this.#input?.input.kind === 'push' ? `${this.#options.definition.id}.${this.#input.nodeId}` : undefined;
  }

  async #openDoor(): Promise<void> {
    const { bus, definition } = this.#options;
    const stream = this.#stream;
    if (!this.#input || stream === undefined) return;
    const { nodeId, input } = this.#input;
    // An output that no way leads to takes nothing: what waited for it would fill the buffer for all.
    await bus.declare(stream, [...routesOf(definition).keys()]);
    this.#intake = new Intake({
      bus,
      stream,
      pipelineId: definition.id,
      nodeId,
      counters: this.#counters,
      deadLetters: this.#deadLetters,
      now: () => this.#clock.now(),
      log: (entry) => this.log.add(entry),
    });
    if (input.kind !== 'push') return;
    const { random = Math.random } = this.#options;
    this.#door = new Door(
      nodeId,
      input,
      this.#health,
      this.#clock,
      createBackoff({ capMs: this.#limits.retryCap, random }),
    );
    await this.#door.open(this.#intake);
  }

  /** Something was counted. */
  #reportSoon(): void {
    // With each beat it is told anyway.
    if (this.#reporting || this.#limits.report >= this.#limits.beat) return;
    this.#reporting = true;
    void this.#wakeLater();
  }

  async #wakeLater(): Promise<void> {
    await this.#clock.sleep(this.#limits.report, this.#stopped.signal);
    this.#reporting = false;
    this.#wake.abort(QUIETLY);
  }

  async #beat(): Promise<void> {
    while (!this.#ended) {
      this.#wake = new AbortController();
      await this.#tick();
      await this.#clock.sleep(this.#limits.beat, this.#wake.signal);
    }
  }

  /** One after the other. */
  #tick(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#lookSafely());
    return this.#turn;
  }

  /** What failed is tried again with the next beat. */
  async #lookSafely(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      const { code } = failureOf(error);
      this.log.add({ level: 'error', code: 'coordinator', message: `The coordinator could not be reached (${code}).` });
      // Somebody else may have it by now.
      if (this.#lease && this.#lease.expiresAt <= this.#clock.now()) this.#lose();
    }
  }

  async #look(): Promise<void> {
    const lease = await this.#hold();
    if (!lease || this.#ended) return;
    const { coordinator, definition } = this.#options;
    const enabled = (await coordinator.desired(definition.id))?.enabled ?? true;
    if (enabled && !this.#run && this.#missing === undefined) this.#begin(lease);
    if (!enabled && this.#run && !this.#run.stopping) {
      this.log.add({ level: 'info', code: 'pausing', message: 'Finishing what was begun.' });
      void this.#run.stop();
    }
    await this.#report(lease, false);
  }

  async #hold(): Promise<Lease | undefined> {
    const { coordinator, definition, holder } = this.#options;
    const before = this.#lease;
    if (before && before.expiresAt - this.#clock.now() > this.#limits.leaseTtl * 0.6) return before;
    const lease = before
      ? await coordinator.renew(before, this.#limits.leaseTtl)
      : await coordinator.acquire(definition.id, holder, this.#limits.leaseTtl);
    if (before && !lease) this.#lose();
    else this.#lease = lease;
    if (!before && lease) {
      const reported = await coordinator.reported(definition.id);
      // Somebody else has counted meanwhile.
      if (reported && reported.holder !== holder) this.#counters.load(observationIn(reported.value)?.counts);
      if (this.#missing !== undefined) this.#sayMissing(this.#missing);
    }
    return this.#lease;
  }

  #lose(): void {
    this.#lease = undefined;
    this.log.add({ level: 'warn', code: 'lease_lost', message: 'Another worker may run this now.' });
    this.#run?.abort();
  }

  #sayMissing({ nodeId, code, message }: NonNullable<ReturnType<typeof missingPart>>): void {
    this.#health.reset([nodeId]);
    this.#health.failed(nodeId, { code, message, kind: 'permanent' }, 0);
  }

  #begin(lease: Lease): void {
    if (!this.#input) return;
    const { definition, components, bus, coordinator, random = Math.random } = this.#options;
    const work: Omit<Work, 'stopping' | 'aborted'> = {
      clock: this.#clock,
      backoff: createBackoff({ capMs: this.#limits.retryCap, random }),
      counters: this.#counters,
      health: this.#health,
      deadLetters: this.#deadLetters,
      log: (entry) => this.log.add(entry),
    };
    const transforms = new Map([...components.transforms].map(([id, config]) => [id, compileTransform(config)]));
    const parts: RunParts = {
      definition,
      ...this.#input,
      outputs: components.outputs,
      transforms,
      bus,
      ...(this.#stream !== undefined && { stream: this.#stream }),
      ...(this.#door && { door: this.#door }),
      coordinator,
      lease,
    };
    const run = new Run(parts, work, this.#limits.grace);
    this.#run = run;
    this.log.add({ level: 'info', code: 'started', message: 'Working.' });
    void this.#finish(run);
  }

  async #finish(run: Run): Promise<void> {
    const end = await run.ended;
    this.#run = undefined;
    if (end === 'fenced') this.#lose();
    else if (!this.#ended) this.log.add({ level: 'info', code: 'paused', message: 'At rest.' });
    this.#wake.abort(QUIETLY);
  }

  #observe(): Promise<Observation> {
    return this.#observer.observe(this.#run !== undefined);
  }

  async #report(lease: Lease, always: boolean): Promise<void> {
    const observation = await this.#observe();
    const { working, full, ends } = observation;
    const revision = JSON.stringify([this.#counters.revision, working, full, ends]);
    const now = this.#clock.now();
    const { coordinator, definition } = this.#options;
    if (!always && revision === this.#reported?.revision && now - this.#reported.at < QUIET) return;
    if (!(await coordinator.report(lease, definition.id, reportOf(observation)))) return this.#lose();
    this.#reported = { revision, at: now };
  }
}
