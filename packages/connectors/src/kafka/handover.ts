/** Thrown to pending callers when the run ends. */
export class Ended extends Error {}

interface Offer<T> {
  value: T;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Hands values from a push-based producer to a pull-based consumer, one at a time, and notifies the
 * producer when each has been processed.
 */
export class Handover<T> {
  #offers: Offer<T>[] = [];
  #taken: Offer<T> | undefined;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  /** Rejects when `end` is called; never resolves. */
  readonly failed = new Promise<never>((_resolve, reject) => (this.#fail = reject));

  constructor() {
    this.failed.catch(() => undefined);
  }

  /** Resolves once the consumer has processed the value. @throws Ended */
  offer(value: T): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) {
        reject(new Ended());
        return;
      }
      this.#offers.push({ value, resolve, reject });
      this.#wake();
    });
  }

  /**
   * Marks the previous value as processed and waits for the next one.
   *
   * @param idle the timeout; its signal is aborted once `take` stops waiting
   * @returns `undefined` if `idle` resolves first
   * @throws the error passed to `end`
   */
  async take(idle: (signal: AbortSignal) => Promise<void>): Promise<T | undefined> {
    this.#taken?.resolve();
    this.#taken = undefined;
    if (this.#offers.length === 0 && !this.#failure) {
      const waiting = new AbortController();
      await Promise.race([new Promise<void>((resolve) => (this.#wake = resolve)), idle(waiting.signal)]);
      waiting.abort();
    }
    if (this.#failure) throw this.#failure;
    this.#taken = this.#offers.shift();
    return this.#taken?.value;
  }

  /** Rejects pending offers with `Ended`; `take` throws `error` from now on. */
  end(error: Error): void {
    this.#failure ??= error;
    this.#fail(error);
    for (const { reject } of this.#offers) reject(new Ended());
    this.#taken?.reject(new Ended());
    this.#offers = [];
    this.#wake();
  }
}
