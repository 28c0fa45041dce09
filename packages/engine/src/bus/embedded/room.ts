interface Waiter {
  bytes: number;
  leave(admitted: boolean): void;
}

/** Byte quota of a bounded buffer, granted in the order of the requests. */
export class Room {
  readonly #line: Waiter[] = [];
  #reserved = 0;
  #refused: number | undefined;

  /**
   * @param stored returns the bytes currently in the buffer; code that removes some must call
   *   `freed`
   */
  constructor(
    readonly maxBytes: number,
    private readonly stored: () => number,
  ) {}

  /** Whether a request was rejected or is waiting and still does not fit. */
  get full(): boolean {
    return this.#line.length > 0 || this.#refused !== undefined;
  }

  /** Reserves `bytes` if they fit within `waitMs` milliseconds. */
  take(bytes: number, waitMs: number, signal?: AbortSignal): boolean | Promise<boolean> {
    if (this.#line.length === 0 && this.#fits(bytes)) {
      this.#reserved += bytes;
      return true;
    }
    if (waitMs <= 0 || signal?.aborted) {
      this.#refused = bytes;
      return false;
    }
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#refused = bytes;
        waiter.leave(false);
        // The next waiter may need less.
        this.freed();
      };
      const timer = setTimeout(giveUp, waitMs);
      const waiter: Waiter = {
        bytes,
        leave: (admitted) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
          this.#line.splice(this.#line.indexOf(waiter), 1);
          resolve(admitted);
        },
      };
      signal?.addEventListener('abort', giveUp);
      this.#line.push(waiter);
    });
  }

  /** Releases a reservation whose bytes are now stored or were discarded. */
  settle(bytes: number): void {
    this.#reserved -= bytes;
  }

  /** Admits the waiters that fit now. */
  freed(): void {
    for (let first = this.#line[0]; first && this.#fits(first.bytes); first = this.#line[0]) {
      this.#reserved += first.bytes;
      first.leave(true);
    }
    if (this.#refused !== undefined && this.#fits(this.#refused)) this.#refused = undefined;
  }

  /** Rejects all waiters. */
  close(): void {
    for (const waiter of this.#line.slice()) waiter.leave(false);
  }

  /** A batch larger than the whole buffer is accepted when the buffer is empty. */
  #fits(bytes: number): boolean {
    const used = this.stored() + this.#reserved;
    return used <= 0 || used + bytes <= this.maxBytes;
  }
}
