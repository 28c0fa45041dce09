interface Waiter {
  /** Sequence of the last batch it has read. */
  readonly after: number;
  wake(): void;
}

/** A reader that listens for batches of a stream. */
export interface Listening {
  /** Resolves when there may be new batches, or `signal` is aborted. */
  wait(signal: AbortSignal): Promise<void>;
  /** Ends it without waiting. */
  end(): void;
}

/**
 * Readers of streams that wait for batches. Notifications wake them; since these can be lost, one
 * query at each interval looks for batches of all streams that have a waiting reader.
 */
export class StreamWaiters {
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #sequences: (streams: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  readonly #pollMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(sequences: (streams: readonly string[]) => Promise<ReadonlyMap<string, number>>, pollMs: number) {
    this.#sequences = sequences;
    this.#pollMs = pollMs;
  }

  /** Starts to listen for batches. Call it before reading: a batch that is stored meanwhile is not missed. */
  listen(stream: string, after: number): Listening {
    let isWoken = false;
    let resolve: (() => void) | undefined;
    const waiters = this.#waiters.get(stream) ?? new Set<Waiter>();
    this.#waiters.set(stream, waiters);
    const end = (): void => {
      isWoken = true;
      waiters.delete(waiter);
      if (waiters.size === 0 && this.#waiters.get(stream) === waiters) this.#waiters.delete(stream);
      resolve?.();
    };
    const waiter: Waiter = { after, wake: end };
    waiters.add(waiter);
    this.#schedule();
    return {
      end,
      wait: (signal) =>
        new Promise((done) => {
          if (signal.aborted) end();
          if (isWoken) return done();
          signal.addEventListener('abort', end);
          resolve = () => {
            signal.removeEventListener('abort', end);
            done();
          };
        }),
    };
  }

  /**
   * Wakes the readers of a stream, or of all. Returns whether there were any.
   */
  wake(stream?: string): boolean {
    const woken = stream === undefined ? [...this.#waiters.values()] : [this.#waiters.get(stream) ?? []];
    let count = 0;
    for (const waiters of woken)
      for (const waiter of waiters) {
        waiter.wake();
        count += 1;
      }
    return count > 0;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.wake();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#look(), this.#pollMs).unref();
  }

  async #look(): Promise<void> {
    try {
      const last = await this.#sequences([...this.#waiters.keys()]);
      for (const [stream, waiters] of this.#waiters)
        // Readers of a removed stream end.
        for (const waiter of waiters) if ((last.get(stream) ?? Number.POSITIVE_INFINITY) > waiter.after) waiter.wake();
    } catch {
      // The next look tries again.
    }
    this.#timer = undefined;
    if (this.#waiters.size > 0) this.#schedule();
  }
}
