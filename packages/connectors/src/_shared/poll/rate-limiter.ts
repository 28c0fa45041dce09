import { getAt } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import type { Clock } from '@connector-frame/engine/connector-api';
import { PollError } from './poll-error.js';

const UNITS: Readonly<Record<string, number>> = { per_second: 1_000, per_minute: 60_000, per_hour: 3_600_000 };
/** Longest wait in milliseconds; for a longer one, `wait` throws so that the status shows it. */
const MAX_WAIT_MS = 5_000;
const MAX_BLOCK_MS = 3_600_000;

/** Limits the request rate to the customer's setting, and pauses until a used-up quota resets. */
export class RateLimiter {
  readonly #intervalMs: number;
  #next = 0;
  #blockedUntil = 0;
  #lastNow = 0;
  readonly #clock: Clock;
  readonly #product: string;

  /** @param limit value of the setting: `{ rate, unit }`, or `undefined` for no limit */
  constructor(limit: unknown, clock: Clock, product: string) {
    this.#clock = clock;
    this.#product = product;
    const rate: unknown = getAt(limit, '/rate');
    const unit: unknown = getAt(limit, '/unit');
    const ms = UNITS[typeof unit === 'string' ? unit : 'per_second'] ?? 1_000;
    this.#intervalMs = typeof rate === 'number' && rate > 0 ? ms / rate : 0;
  }

  /**
   * Resolves when the next request may be sent.
   *
   * @throws PollError `rate_limited` if the quota resets in more than `MAX_WAIT_MS`
   */
  async wait(signal: AbortSignal): Promise<void> {
    const now = this.#now();
    const blocked = this.#blockedUntil - now;
    if (blocked > MAX_WAIT_MS) throw this.throttled(blocked);
    const wait = Math.max(0, blocked, this.#next - now);
    // Reserved before waiting: several requests may wait at the same time.
    this.#next = now + wait + this.#intervalMs;
    if (wait > 0) await this.#clock.sleep(wait, signal);
    signal.throwIfAborted();
  }

  /** Blocks requests for `ms` milliseconds, one hour at most. */
  block(ms: number): void {
    this.#blockedUntil = this.#now() + Math.min(ms, MAX_BLOCK_MS);
  }

  /** Returns the time. If the clock was set back, moves the deadlines back by the same amount. */
  #now(): number {
    const now = this.#clock.now();
    const back = Math.max(0, this.#lastNow - now);
    this.#next -= back;
    this.#blockedUntil -= back;
    this.#lastNow = now;
    return now;
  }

  throttled(afterMs: number, status?: number): PollError {
    const outcome = failed('rate_limited', `${this.#product} is limiting requests right now.`, {
      hint: 'Try again in a minute.',
    });
    return new PollError(outcome, 'throttled', { afterMs, ...(status !== undefined && { status }) });
  }
}
