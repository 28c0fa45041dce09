interface Waiter {
  bytes: number;
  finish(acquired: boolean): void;
}

/** Byte quota of a bounded buffer, granted in the order of the requests. */
export class ByteQuota {
  readonly maxBytes: number;
  readonly #stored: () => number;
  readonly #queue: Waiter[] = [];
  #reserved = 0;
  #rejectedBytes: number | undefined;

  /**
   * @param stored returns the bytes currently in the buffer; code that removes some must call
   *   `admitWaiters`
   */
  constructor(maxBytes: number, stored: () => number) {
    this.maxBytes = maxBytes;
    this.#stored = stored;
  }

  /** Whether a request was rejected or is waiting and still does not fit. */
  get full(): boolean {
    return this.#queue.length > 0 || this.#rejectedBytes !== undefined;
  }

  /** Reserves `bytes` if they fit within `waitMs` milliseconds. */
  acquire(bytes: number, waitMs: number, signal?: AbortSignal): boolean | Promise<boolean> {
    if (this.#queue.length === 0 && this.#fits(bytes)) {
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
    for (let first = this.#queue[0]; first && this.#fits(first.bytes); first = this.#queue[0]) {
      this.#reserved += first.bytes;
      first.finish(true);
    }
    if (this.#rejectedBytes !== undefined && this.#fits(this.#rejectedBytes)) this.#rejectedBytes = undefined;
  }

  /** Rejects all waiters. */
  close(): void {
    for (const waiter of this.#queue.slice()) waiter.finish(false);
  }

  /** A batch larger than the whole buffer is accepted when the buffer is empty. */
  #fits(bytes: number): boolean {
    const used = this.#stored() + this.#reserved;
    return used <= 0 || used + bytes <= this.maxBytes;
  }
}
