import type { Clock } from '../connector-api/clock.js';
import { WAKE_UP } from '../connector-api/clock.js';

/** The waits of a pipeline before its next attempts, which a person can end. */
export class RetryWaits {
  readonly #clock: Clock;
  readonly #waits = new Set<AbortController>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves after `ms`, when `signal` is aborted, or when `endAll` is called. Returns whether it was
   * `endAll`.
   */
  async sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    const wait = new AbortController();
    const wake = (): void => wait.abort(WAKE_UP);
    this.#waits.add(wait);
    signal.addEventListener('abort', wake);
    try {
      if (!signal.aborted) await this.#clock.sleep(ms, wait.signal);
    } finally {
      signal.removeEventListener('abort', wake);
      this.#waits.delete(wait);
    }
    return wait.signal.aborted && !signal.aborted;
  }

  /** Ends all waits. Returns how many there were. */
  endAll(): number {
    const count = this.#waits.size;
    for (const wait of this.#waits) wait.abort(WAKE_UP);
    return count;
  }
}
