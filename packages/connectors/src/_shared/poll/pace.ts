import { getAt } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import type { Clock } from '@connector-frame/engine/connector-api';
import { PollError } from './poll-error.js';

const UNITS: Readonly<Record<string, number>> = { per_second: 1_000, per_minute: 60_000, per_hour: 3_600_000 };
/** Longest wait in milliseconds; for a longer one, `turn` throws so that the status shows it. */
const LONGEST_SLEEP = 5_000;
const LONGEST_CLOSED = 3_600_000;

/** Limits the request rate to the customer's setting, and pauses until a used-up quota resets. */
export class Pace {
  readonly #gap: number;
  #next = 0;
  #closedUntil = 0;
  #before = 0;

  /** @param limit value of the setting: `{ rate, unit }`, or `undefined` for no limit */
  constructor(
    limit: unknown,
    private readonly clock: Clock,
    private readonly product: string,
  ) {
    const rate: unknown = getAt(limit, '/rate');
    const unit: unknown = getAt(limit, '/unit');
    const ms = UNITS[typeof unit === 'string' ? unit : 'per_second'] ?? 1_000;
    this.#gap = typeof rate === 'number' && rate > 0 ? ms / rate : 0;
  }

  /**
   * Resolves when the next request may be sent.
   *
   * @throws PollError `rate_limited` if the quota resets in more than `LONGEST_SLEEP`
   */
  async turn(signal: AbortSignal): Promise<void> {
    const now = this.#now();
    const closed = this.#closedUntil - now;
    if (closed > LONGEST_SLEEP) throw this.throttled(closed);
    const wait = Math.max(closed, this.#next - now);
    if (wait > 0) await this.clock.sleep(wait, signal);
    signal.throwIfAborted();
    this.#next = this.#now() + this.#gap;
  }

  /** Blocks requests for `ms` milliseconds, one hour at most. */
  close(ms: number): void {
    this.#closedUntil = this.#now() + Math.min(ms, LONGEST_CLOSED);
  }

  /** Returns the time. If the clock was set back, moves the deadlines back by the same amount. */
  #now(): number {
    const now = this.clock.now();
    const back = Math.max(0, this.#before - now);
    this.#next -= back;
    this.#closedUntil -= back;
    this.#before = now;
    return now;
  }

  throttled(afterMs: number, status?: number): PollError {
    const outcome = failed('rate_limited', `${this.product} is limiting requests right now.`, {
      hint: 'Try again in a minute.',
    });
    return new PollError(outcome, 'throttled', { afterMs, ...(status !== undefined && { status }) });
  }
}
