/** Waiters that are all woken together. */
export class Waiters {
  #wakes: (() => void)[] = [];

  /** Resolves at the next `wakeAll`, or when `signal` is aborted. */
  sleep(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.#wakes = this.#wakes.filter((other) => other !== wake);
        resolve();
      };
      signal.addEventListener('abort', wake);
      this.#wakes.push(wake);
    });
  }

  wakeAll(): void {
    for (const wake of this.#wakes.slice()) wake();
  }
}
