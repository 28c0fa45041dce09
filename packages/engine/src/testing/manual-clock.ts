import type { Clock } from '../connector-api/clock.js';

/** A clock that only moves when `advance` is called. */
export class ManualClock implements Clock {
  #now: number;
  #sleepers: { at: number; wake: () => void }[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = {
        at: this.#now + ms,
        wake: () => {
          this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
          signal?.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', sleeper.wake);
    });
  }

  /** Number of pending sleeps. */
  get sleepers(): number {
    return this.#sleepers.length;
  }

  /** Milliseconds until the next sleep ends. */
  get untilNext(): number | undefined {
    return this.#sleepers.length === 0 ? undefined : Math.min(...this.#sleepers.map(({ at }) => at)) - this.#now;
  }

  /** Advances the time by `ms` milliseconds and ends due sleeps in order. */
  advance(ms: number): void {
    this.#now += ms;
    for (const sleeper of this.#sleepers.slice().sort((a, b) => a.at - b.at))
      if (sleeper.at <= this.#now) sleeper.wake();
  }
}
