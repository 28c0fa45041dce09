import type { Clock } from '@connector-frame/engine/connector-api';

/** Signatures that are kept for each connector. Older ones are forgotten first. */
const MAX_KEPT = 20_000;

/** Recognizes signatures that were used before, and times that are too far from the clock. */
export class ReplayGuard {
  /** Keys in the order in which they came, each with its time. */
  readonly #seen = new Map<string, number>();
  readonly #windowMs: number;
  readonly #clock: Pick<Clock, 'now'>;

  /** @param windowMs largest difference of a signed time to the clock; `Infinity`: times are not signed */
  constructor(windowMs: number, clock: Pick<Clock, 'now'>) {
    this.#windowMs = windowMs;
    this.#clock = clock;
  }

  /** Returns whether a time is close to now. `NaN` is not. */
  isRecent(timeMs: number): boolean {
    return Math.abs(this.#clock.now() - timeMs) <= this.#windowMs;
  }

  has(key: string): boolean {
    return this.#seen.has(key);
  }

  /** Adds the signature of a request that is stored. Before that, the sender may try again. */
  add(key: string): void {
    const now = this.#clock.now();
    for (const [old, at] of this.#seen) {
      if (now - at <= 2 * this.#windowMs && this.#seen.size < MAX_KEPT) break;
      this.#seen.delete(old);
    }
    this.#seen.set(key, now);
  }
}
