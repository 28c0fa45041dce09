/** Thrown to whoever waits when the run ends. */
export class Ended extends Error {}

interface Offer<T> {
  value: T;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Gives values from one who pushes to one who asks, one at a time, and tells the giver when each is done with. */
export class Handover<T> {
  #offers: Offer<T>[] = [];
  #taken: Offer<T> | undefined;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  /** Rejects when it ends. */
  readonly failed = new Promise<never>((_resolve, reject) => (this.#fail = reject));

  constructor() {
    this.failed.catch(() => undefined);
  }

  /** Resolves once the value was taken and is done with. @throws Ended */
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

  /** The next value, and with that the one before is done with; `undefined` when `idle` resolves first. */
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

  /** Whoever waits is sent away; `take` throws `error`. */
  end(error: Error): void {
    this.#failure ??= error;
    this.#fail(error);
    for (const { reject } of this.#offers) reject(new Ended());
    this.#taken?.reject(new Ended());
    this.#offers = [];
    this.#wake();
  }
}
