import { MAX_REFUSALS, type Failure, type RetryLimits } from '../connector-api/index.js';
import { waitBeforeRetry, type RunContext } from './run-context.js';

/**
 * Permission to write to an output. `probe`: the output is failing, and this caller alone tests it;
 * it must call `release` after the write. `single`: it writes only one record.
 */
export type Turn = { readonly probe: false } | { readonly probe: true; readonly single: boolean; release(): void };

const WRITE: Turn = { probe: false };

/**
 * Shared by all deliveries to one output in one run, which may be concurrent. Closes when the output
 * fails permanently or refuses one record after another. While it is closed, one delivery at a time
 * tests the output, after a wait; everything else stays in the buffer.
 *
 * A refused record is dead-lettered only if the output accepted another one: a destination that
 * refuses everything would otherwise turn the whole stream into dead letters.
 */
export class OutputGate {
  readonly #context: RunContext;
  readonly #nodeId: string;
  readonly #limits: Partial<RetryLimits> | undefined;
  readonly #lock = new SharedLock();
  #probing: Promise<void> = Promise.resolve();
  #failure: Failure | undefined;
  #isRefusing = false;
  #attempt = 0;
  #refusals = 0;
  #accepted = 0;
  #acceptedBeforeOpening = 0;
  #epoch = 0;
  /** Dead letters since the last accepted record. */
  #unproven = 0;
  #gaveBatch = false;
  #closedSince = 0;

  constructor(context: RunContext, nodeId: string, limits?: Partial<RetryLimits>) {
    this.#context = context;
    this.#nodeId = nodeId;
    this.#limits = limits;
  }

  get closed(): boolean {
    return this.#failure !== undefined;
  }

  /** Number of writes in which the output accepted a record. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Increases when the gate opens again: refusals from before say nothing about the records. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Value of `accepted` before the gate opened last. */
  get acceptedBeforeOpening(): number {
    return this.#acceptedBeforeOpening;
  }

  /**
   * Waits for permission to write. While the gate is closed, callers take turns and wait for the
   * backoff. Returns `undefined` if the run is stopping.
   */
  async turn(): Promise<Turn | undefined> {
    if (!this.closed) return WRITE;
    const before = this.#probing;
    const { promise, resolve: release } = withResolvers();
    this.#probing = promise;
    await before;
    const failure = this.#failure;
    const { stopping } = this.#context;
    const isWaiting = failure !== undefined && !stopping.aborted;
    if (isWaiting) await waitBeforeRetry(this.#context, this.#nodeId, failure, this.#attempt, this.#limits);
    if (!stopping.aborted && this.closed) return { probe: true, single: this.#isRefusing, release };
    release();
    return stopping.aborted ? undefined : WRITE;
  }

  /**
   * Runs a write to the output.
   * @param exclusive waits for all other writes and keeps new ones out: not every output can write
   *   several batches at a time
   */
  write<T>(work: () => Promise<T>, exclusive = false): Promise<T> {
    return this.#lock.run(work, exclusive);
  }

  /** Records that the output accepted records. Opens the gate. */
  recordAccepted(): void {
    this.#open();
    this.#accepted += 1;
    this.#refusals = 0;
    this.#unproven = 0;
    this.#gaveBatch = false;
  }

  /** Records that the output responded to a write, so that any failure but refusals is over. */
  recordResponse(): void {
    if (!this.#isRefusing) this.#open();
  }

  /** Records that the output refused `count` records, each on its own. */
  recordRefused(count: number, reason: string, probe: boolean): void {
    this.#refusals += count;
    if (this.#refusals >= MAX_REFUSALS || this.closed) this.closeForRefusals(reason, probe);
  }

  /** Closes the gate: what is left to deliver was refused, and nothing shows why. */
  closeForRefusals(reason: string, probe: boolean): void {
    this.#isRefusing = true;
    this.close(
      {
        code: 'refused',
        message: `The destination refuses every record: ${reason.replace(/\.$/, '')}. Records are kept; one is sent from time to time until it is accepted. Check the destination and the settings of this output.`,
        kind: 'retry',
        needsAttention: true,
      },
      probe,
    );
  }

  /**
   * Closes the gate after a failure.
   * @param probe the caller held the turn; a failure of a concurrent write does not count as an
   *   attempt
   */
  close(failure: Failure, probe: boolean): void {
    if (!this.closed) this.#closedSince = this.#context.clock.now();
    if (!this.closed || probe) this.#attempt += 1;
    this.#failure = failure;
  }

  /**
   * Returns whether `count` records that were each refused may go to the dead letters although
   * nothing was accepted since; counts them if so. At most ten may, plus one batch if the output has
   * accepted records before, plus one batch per `giveWay` milliseconds, so that bad records at the
   * head of the line can't hold it forever.
   */
  mayGiveUp(count: number): boolean {
    const now = this.#context.clock.now();
    if (this.#unproven + count <= MAX_REFUSALS) this.#unproven += count;
    else if (this.#accepted > 0 && !this.#gaveBatch) this.#gaveBatch = true;
    else if (this.closed && now - this.#closedSince >= this.#context.giveWayMs) this.#closedSince = now;
    else return false;
    return true;
  }

  #open(): void {
    if (!this.closed) return;
    this.#failure = undefined;
    this.#isRefusing = false;
    this.#attempt = 0;
    this.#epoch += 1;
    this.#acceptedBeforeOpening = this.#accepted;
    this.#context.health.responded(this.#nodeId);
  }
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = noop;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve: () => resolve() };
}

const noop = (): void => undefined;

/** A lock that either many hold, or one exclusively. */
class SharedLock {
  readonly #shared = new Set<Promise<unknown>>();
  #exclusive: Promise<unknown> | undefined;

  async run<T>(work: () => Promise<T>, exclusive: boolean): Promise<T> {
    while (this.#exclusive) await this.#exclusive;
    if (!exclusive) {
      const working = work();
      const settled: Promise<unknown> = working.catch(() => undefined).finally(() => this.#shared.delete(settled));
      this.#shared.add(settled);
      return working;
    }
    const working = Promise.all(this.#shared).then(work);
    this.#exclusive = working.catch(() => undefined).finally(() => (this.#exclusive = undefined));
    return working;
  }
}
