import type { Clock } from '../connector-api/clock.js';

/** A clock that only moves when `advance` is called. */
export class ManualClock implements Clock {
  #now: number;
  #timers: { at: number; wake: () => void }[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = {
        at: this.#now + ms,
        wake: () => {
          this.#timers = this.#timers.filter((other) => other !== timer);
          signal?.removeEventListener('abort', timer.wake);
          resolve();
        },
      };
      this.#timers.push(timer);
      signal?.addEventListener('abort', timer.wake);
    });
  }

  /** Number of pending sleeps. */
  get sleepers(): number {
    return this.#timers.length;
  }

  /** Milliseconds until the next sleep ends. */
  get untilNext(): number | undefined {
    return this.#timers.length === 0 ? undefined : Math.min(...this.#timers.map(({ at }) => at)) - this.#now;
  }

  /** Advances the time by `ms` milliseconds and ends due sleeps in order. */
  advance(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers.slice().sort((a, b) => a.at - b.at)) if (timer.at <= this.#now) timer.wake();
  }
}
