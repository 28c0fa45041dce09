interface Waiter {
  bytes: number;
  finish(acquired: boolean): void;
}

/** Byte quota of a bounded buffer, granted in the order of the requests. */
export class ByteQuota {
  readonly #fits: (bytes: number, reserved: number) => boolean;
  readonly #queue: Waiter[] = [];
  #reserved = 0;
  #rejectedBytes: number | undefined;

  /**
   * @param fits returns whether `bytes` more fit into the buffer, in addition to the `reserved`
   *   bytes that will be stored soon; code that makes space must call `admitWaiters`
   */
  constructor(fits: (bytes: number, reserved: number) => boolean) {
    this.#fits = fits;
  }

  /** Whether a request was rejected or is waiting and still does not fit. */
  get full(): boolean {
    return this.#queue.length > 0 || this.#rejectedBytes !== undefined;
  }

  get isWaiting(): boolean {
    return this.#queue.length > 0;
  }

  /** Reserves `bytes` if they fit within `waitMs` milliseconds. */
  acquire(bytes: number, waitMs: number, signal?: AbortSignal): boolean | Promise<boolean> {
    if (this.#queue.length === 0 && this.#fits(bytes, this.#reserved)) {
      this.#reserved += bytes;
      return true;
    }
    if (waitMs <= 0 || signal?.aborted) {
      this.#rejectedBytes = bytes;
      return false;
    }
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#rejectedBytes = bytes;
        waiter.finish(false);
        // The next waiter may need less.
        this.admitWaiters();
      };
      const timer = setTimeout(giveUp, waitMs);
      const waiter: Waiter = {
        bytes,
        finish: (acquired) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
          this.#queue.splice(this.#queue.indexOf(waiter), 1);
          resolve(acquired);
        },
      };
      signal?.addEventListener('abort', giveUp);
      this.#queue.push(waiter);
    });
  }

  /** Releases a reservation whose bytes are now stored or were discarded. */
  release(bytes: number): void {
    this.#reserved -= bytes;
  }

  /** Admits the waiters that fit now. Call it after bytes were removed from the buffer. */
  admitWaiters(): void {
    for (let first = this.#queue[0]; first && this.#fits(first.bytes, this.#reserved); first = this.#queue[0]) {
      this.#reserved += first.bytes;
      first.finish(true);
    }
    if (this.#rejectedBytes !== undefined && this.#fits(this.#rejectedBytes, this.#reserved))
      this.#rejectedBytes = undefined;
  }

  /** Rejects all waiters. */
  close(): void {
    for (const waiter of this.#queue.slice()) waiter.finish(false);
  }
}
