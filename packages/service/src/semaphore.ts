import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Semaphore: limits concurrent work; waiting callers run in order. Yields to the event loop before
 * each start.
 */
export class Semaphore {
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#line.push(resolve));
    try {
      await nextTurn();
      return await work();
    } finally {
      const next = this.#line.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
