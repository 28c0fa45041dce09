import { setMaxListeners } from 'node:events';
import type { Batch } from '../connector-api/batch.js';
import { WAKE_UP } from '../connector-api/clock.js';
import { ConnectorError, failureOf, type Failure, type Output, type WriteResult } from '../connector-api/index.js';
import { AdaptiveLimit } from './adaptive-limit.js';
import type { RunContext } from './run-context.js';

export interface ConcurrencyLimiterOptions {
  context: Pick<RunContext, 'retries' | 'retryDelay' | 'stopping' | 'aborted'>;
  output: Output;
  /** Maximum number of writes at a time. */
  max: number;
  /** Called when another write may be started, or when the limiter has given up. */
  onChange(): void;
  /** Returns monotonic milliseconds. Default: `performance.now`. */
  monotonicNow?: () => number;
}

/** One delivery, which may write several times until all of its records are written. */
export interface Lane {
  /** The output, with `write` subject to the limit. */
  readonly output: Output;
  /** Must be called when the delivery is over. */
  end(): void;
}

interface Waiter {
  start(): void;
  reject(error: ConnectorError): void;
}

/**
 * Limits the writes to one output in one run, and adapts the limit. Only writes count, not the waits
 * between two attempts: a batch that is retried does not slow down the others.
 *
 * - Throttling holds all writes until the delay is over or the throttled delivery tries again.
 * - If the destination fails repeatedly and nothing succeeds, one write at a time tests it, after a
 *   delay that grows with each failure.
 * - When the run is stopping, writes that are held, and all others after a failure, are given up.
 */
export class ConcurrencyLimiter {
  readonly #options: ConcurrencyLimiterOptions;
  readonly #limit: AdaptiveLimit;
  readonly #now: () => number;
  readonly #abandoned = new AbortController();
  /** Lanes that have not written yet. */
  readonly #pending = new Set<Lane>();
  readonly #waiters: Waiter[] = [];
  /** Lanes that hold all writes until they try again, at the latest when their sleep ends. */
  readonly #holds = new Map<Lane, AbortController>();
  #inFlight = 0;
  /** Most records of a successful write. */
  #largest = 0;
  /** Failures since the last success. */
  #failures = 0;

  constructor(options: ConcurrencyLimiterOptions) {
    this.#options = options;
    this.#now = options.monotonicNow ?? (() => performance.now());
    this.#limit = new AdaptiveLimit(options.max, this.#now);
    const { stopping, aborted } = options.context;
    stopping.addEventListener('abort', this.#onStopping);
    aborted.addEventListener('abort', this.giveUp);
    setMaxListeners(0, this.#abandoned.signal);
    if (aborted.aborted) this.#abandoned.abort();
  }

  /** The current limit. */
  get limit(): number {
    return this.#limit.value;
  }

  /** Whether another delivery may start. */
  get ready(): boolean {
    if (this.#abandoned.signal.aborted || this.#holds.size > 0) return false;
    return this.#inFlight + this.#waiters.length + this.#pending.size < this.#limit.value;
  }

  /** Aborted when writes were given up; deliveries must then end. */
  get abandoned(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** Starts a delivery. */
  open(): Lane {
    const { output } = this.#options;
    const lane: Lane = {
      output: {
        ...(output.retry && { retry: output.retry }),
        write: (batch) => this.#write(lane, batch),
      },
      end: () => {
        this.#pending.delete(lane);
        this.#endHold(lane);
        this.#admit();
      },
    };
    this.#pending.add(lane);
    return lane;
  }

  /** Gives up all writes that have not started, now and later. */
  readonly giveUp = (): void => {
    if (this.#abandoned.signal.aborted) return;
    this.#abandoned.abort();
    for (const lane of this.#holds.keys()) this.#endHold(lane);
    for (const waiter of this.#waiters.splice(0)) waiter.reject(stopped());
    this.#options.onChange();
  };

  /** Releases timers and listeners. */
  close(): void {
    const { stopping, aborted } = this.#options.context;
    stopping.removeEventListener('abort', this.#onStopping);
    aborted.removeEventListener('abort', this.giveUp);
    for (const lane of this.#holds.keys()) this.#endHold(lane);
  }

  readonly #onStopping = (): void => {
    if (this.#holds.size > 0) this.giveUp();
  };

  async #write(lane: Lane, batch: Batch): Promise<WriteResult> {
    const { output, context } = this.#options;
    this.#pending.delete(lane);
    this.#endHold(lane);
    await this.#acquire();
    const startedAt = this.#now();
    let failure: Failure | undefined;
    let isRefused = false;
    try {
      const result = await output.write(batch, context.aborted);
      failure = failureIn(result, batch);
      isRefused = acceptedNothing(result, batch);
      return result;
    } catch (error) {
      failure = failureOf(error);
      throw error;
    } finally {
      this.#inFlight -= 1;
      if (failure) this.#failed(lane, failure);
      // Not a failure of the destination, but no reason to send it more at a time.
      else if (isRefused) this.#limit.failed();
      else this.#succeeded(this.#now() - startedAt, batch.lines.length);
      this.#admit();
    }
  }

  async #acquire(): Promise<void> {
    if (this.#abandoned.signal.aborted) throw stopped();
    await new Promise<void>((start, reject) => {
      this.#waiters.push({ start, reject });
      this.#admit();
    });
  }

  #admit(): void {
    while (this.#holds.size === 0 && this.#inFlight < this.#limit.value) {
      const waiter = this.#waiters.shift();
      if (!waiter) break;
      this.#inFlight += 1;
      this.#limit.started(this.#inFlight);
      waiter.start();
    }
    this.#options.onChange();
  }

  #succeeded(ms: number, records: number): void {
    this.#failures = 0;
    // Compares writes of similar size: one record takes less time than 500.
    if (records >= 2 * this.#largest) this.#limit.reset();
    this.#largest = Math.max(this.#largest, records);
    if (2 * records >= this.#largest) this.#limit.succeeded(ms);
  }

  #failed(lane: Lane, failure: Failure): void {
    const { context, max } = this.#options;
    this.#failures += 1;
    this.#limit.failed();
    if (context.stopping.aborted) return this.giveUp();
    // A single lane waits between its attempts anyway.
    if (max === 1) return;
    const isDown = this.#limit.value === 1 && this.#failures > 1;
    if (failure.kind === 'throttled' || isDown) void this.#hold(lane, failure);
  }

  async #hold(lane: Lane, failure: Failure): Promise<void> {
    const { retries, retryDelay } = this.#options.context;
    const ended = new AbortController();
    this.#holds.set(lane, ended);
    await retries.sleep(retryDelay(failure, this.#failures, this.#options.output.retry), ended.signal);
    if (this.#holds.get(lane) !== ended) return;
    this.#holds.delete(lane);
    this.#admit();
  }

  #endHold(lane: Lane): void {
    const hold = this.#holds.get(lane);
    this.#holds.delete(lane);
    hold?.abort(WAKE_UP);
  }
}

const stopped = (): ConnectorError => new ConnectorError('stopped', 'The run is stopping.');

function acceptedNothing({ rejected = [], refused = [], unsent = [] }: WriteResult, { lines }: Batch): boolean {
  const count = refused.reduce((sum, { indexes }) => sum + indexes.length, rejected.length + unsent.length);
  return lines.length > 0 && count >= lines.length;
}

/** Returns the failure of a write that wrote nothing or was throttled. */
function failureIn({ retry }: WriteResult, batch: Batch): Failure | undefined {
  if (!retry || retry.indexes.length === 0) return undefined;
  if (!retry.throttled && retry.indexes.length < batch.lines.length) return undefined;
  const { reason: message, throttled, afterMs } = retry;
  return {
    code: 'retry',
    message,
    kind: throttled ? 'throttled' : 'retry',
    ...(afterMs !== undefined && { afterMs }),
  };
}
