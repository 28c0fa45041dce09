interface Waiter {
  bytes: number;
  leave(admitted: boolean): void;
}

/** Room for bytes in a bounded buffer, given out in the order of asking. */
export class Room {
  readonly #line: Waiter[] = [];
  #reserved = 0;
  #refused: number | undefined;

  /** @param stored bytes that wait in the buffer, as of now; whoever frees some calls `freed` */
  constructor(
    readonly maxBytes: number,
    private readonly stored: () => number,
  ) {}

  /** Somebody was refused or had to wait, and would be again. */
  get full(): boolean {
    return this.#line.length > 0 || this.#refused !== undefined;
  }

  /** Reserves room, if there is some within the time. */
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
        // Who stood behind may be smaller.
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

  /** What was reserved is stored now, or will not be. */
  settle(bytes: number): void {
    this.#reserved -= bytes;
  }

  /** Lets in who fits now. */
  freed(): void {
    for (let first = this.#line[0]; first && this.#fits(first.bytes); first = this.#line[0]) {
      this.#reserved += first.bytes;
      first.leave(true);
    }
    if (this.#refused !== undefined && this.#fits(this.#refused)) this.#refused = undefined;
  }

  /** Sends everyone away. */
  close(): void {
    for (const waiter of this.#line.slice()) waiter.leave(false);
  }

  /** A batch larger than the whole buffer still passes through an empty one. */
  #fits(bytes: number): boolean {
    const used = this.stored() + this.#reserved;
    return used <= 0 || used + bytes <= this.maxBytes;
  }
}
