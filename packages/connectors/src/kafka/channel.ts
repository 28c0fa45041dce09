/** Thrown to pending callers when the run ends. */
export class ChannelClosed extends Error {}

interface Pending<T> {
  value: T;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Hands values from a push-based producer to a pull-based consumer, one at a time, and notifies the
 * producer when each has been processed.
 */
export class Channel<T> {
  #pending: Pending<T>[] = [];
  #received: Pending<T> | undefined;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  /** Rejects when `close` is called; never resolves. */
  readonly failed = new Promise<never>((_resolve, reject) => (this.#fail = reject));

  constructor() {
    this.failed.catch(() => undefined);
  }

  /** Resolves once the consumer has processed the value. @throws ChannelClosed */
  send(value: T): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) {
        reject(new ChannelClosed());
        return;
      }
      this.#pending.push({ value, resolve, reject });
      this.#wake();
    });
  }

  /**
   * Marks the previous value as processed and waits for the next one.
   *
   * @param idle the timeout; its signal is aborted once `receive` stops waiting
   * @returns `undefined` if `idle` resolves first
   * @throws the error passed to `close`
   */
  async receive(idle: (signal: AbortSignal) => Promise<void>): Promise<T | undefined> {
    this.#received?.resolve();
    this.#received = undefined;
    if (this.#pending.length === 0 && !this.#failure) {
      const waiting = new AbortController();
      await Promise.race([new Promise<void>((resolve) => (this.#wake = resolve)), idle(waiting.signal)]);
      waiting.abort();
    }
    if (this.#failure) throw this.#failure;
    this.#received = this.#pending.shift();
    return this.#received?.value;
  }

  /** Rejects pending offers with `ChannelClosed`; `receive` throws `error` from now on. */
  close(error: Error): void {
    this.#failure ??= error;
    this.#fail(error);
    for (const { reject } of this.#pending) reject(new ChannelClosed());
    this.#received?.reject(new ChannelClosed());
    this.#pending = [];
    this.#wake();
  }
}
