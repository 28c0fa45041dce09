import type { Clock } from '@connector-frame/engine/connector-api';

/** `Date` headers outside this range come from a clock that was never set. */
const EARLIEST = Date.UTC(2020, 0);
const LATEST = Date.UTC(2100, 0);
/** Differences up to this, in milliseconds, are latency or the one-second resolution of `Date`. */
const TOLERANCE_MS = 5_000;

/**
 * The vendor's clock, from the `Date` header of its responses (RFC 9110, 6.6.1). Time windows refer
 * to it, because ours may be wrong.
 */
export class VendorClock implements Pick<Clock, 'now'> {
  /** Milliseconds by which the vendor's clock is ahead of ours. */
  #offset: number | undefined;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Whether a response had a usable `Date` header. */
  get known(): boolean {
    return this.#offset !== undefined;
  }

  get offset(): number {
    return this.#offset ?? 0;
  }

  observe(headers: Headers): void {
    const date = Date.parse(headers.get('date') ?? '');
    if (!(date >= EARLIEST && date <= LATEST)) return;
    // A cache sends the original `Date`, and the seconds since then in `Age`.
    const age = Number(headers.get('age') ?? 0);
    const offset = date + (age > 0 ? age * 1_000 : 0) - this.#clock.now();
    this.#offset = Math.abs(offset) <= TOLERANCE_MS ? 0 : offset;
  }

  /** The vendor's time if it is known, otherwise ours, in milliseconds since the epoch. */
  now(): number {
    return this.#clock.now() + this.offset;
  }

  /** The earlier of both clocks: a time that one wrong clock can't move into the future. */
  earliest(): number {
    return this.#clock.now() + Math.min(0, this.offset);
  }
}
