/** Waiters that are all woken together. */
export class Waiters {
  #callbacks: (() => void)[] = [];

  /** Resolves at the next `wakeAll`, or once `signal` is aborted. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.#callbacks = this.#callbacks.filter((other) => other !== wake);
        resolve();
      };
      signal.addEventListener('abort', wake);
      this.#callbacks.push(wake);
    });
  }

  wakeAll(): void {
    for (const wake of this.#callbacks.slice()) wake();
  }
}
