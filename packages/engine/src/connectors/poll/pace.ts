import { getAt } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import type { Clock } from '../../runner/clock.js';
import { PollError } from './poll-error.js';

const UNITS: Readonly<Record<string, number>> = { per_second: 1_000, per_minute: 60_000, per_hour: 3_600_000 };
/** A longer wait is told as a status rather than sat out. */
const LONGEST_SLEEP = 5_000;
const LONGEST_CLOSED = 3_600_000;

/** Keeps requests apart: by the customer's own limit, and until a limit that was used up begins again. */
export class Pace {
  readonly #gap: number;
  #next = 0;
  #closedUntil = 0;
  #before = 0;

  /** @param limit `{ rate, unit }` as the setting holds it, or nothing */
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

  /** Resolves when a request may go. @throws PollError `rate_limited` when that is not soon */
  async turn(signal: AbortSignal): Promise<void> {
    const now = this.#now();
    const closed = this.#closedUntil - now;
    if (closed > LONGEST_SLEEP) throw this.throttled(closed);
    const wait = Math.max(closed, this.#next - now);
    if (wait > 0) await this.clock.sleep(wait, signal);
    signal.throwIfAborted();
    this.#next = this.#now() + this.#gap;
  }

  /** Nothing goes for so long, an hour at most. */
  close(ms: number): void {
    this.#closedUntil = this.#now() + Math.min(ms, LONGEST_CLOSED);
  }

  /** A clock that is set back takes with it what was promised by it. */
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
