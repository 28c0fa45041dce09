import type { Clock } from '../runner/clock.js';

/** A clock that stands still until it is told to go on. */
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

  /** How many wait for it. */
  get sleepers(): number {
    return this.#sleepers.length;
  }

  /** Milliseconds until the next one wakes. */
  get untilNext(): number | undefined {
    return this.#sleepers.length === 0 ? undefined : Math.min(...this.#sleepers.map(({ at }) => at)) - this.#now;
  }

  /** Lets time pass, and wakes who has slept enough, in order. */
  advance(ms: number): void {
    this.#now += ms;
    for (const sleeper of this.#sleepers.slice().sort((a, b) => a.at - b.at))
      if (sleeper.at <= this.#now) sleeper.wake();
  }
}
