/** One line of what a pipeline did. Never holds a record or a secret. */
export interface LogEntry {
  /** Rises by one with each entry. A gap in a tail: entries that came faster than they were read. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: 'info' | 'warn' | 'error';
  /** A stable word. */
  readonly code: string;
  readonly message: string;
  readonly nodeId?: string;
}

export type NewLogEntry = Omit<LogEntry, 'sequence' | 'at'>;

interface Listener {
  readonly waiting: LogEntry[];
  /** There is more, or it is over. */
  wake: () => void;
}

const nobody = (): void => undefined;

/** The last entries of one pipeline, in memory, and whoever follows them live. */
export class PipelineLog {
  readonly #entries: LogEntry[] = [];
  readonly #listeners = new Set<Listener>();
  #sequence: number;

  /**
   * @param capacity entries that are kept, and that may wait for a slow reader
   * @param before sequence before the first entry: from the clock, it is higher than any of a process before this one
   */
  constructor(
    private readonly now: () => number,
    private readonly capacity = 500,
    before = 0,
  ) {
    this.#sequence = before;
  }

  add(entry: NewLogEntry): void {
    this.#sequence += 1;
    const added: LogEntry = { sequence: this.#sequence, at: this.now(), ...entry };
    push(this.#entries, added, this.capacity);
    for (const listener of this.#listeners) {
      push(listener.waiting, added, this.capacity);
      listener.wake();
    }
  }

  /** Oldest first. */
  entries(limit = this.capacity): readonly LogEntry[] {
    return limit <= 0 ? [] : this.#entries.slice(-limit);
  }

  /** What is kept after `after`, then what comes, until `signal` is aborted. A slow reader misses the oldest. */
  async *tail(signal: AbortSignal, after = 0): AsyncGenerator<LogEntry, void, void> {
    const listener: Listener = {
      waiting: this.#entries.filter(({ sequence }) => sequence > after),
      wake: nobody,
    };
    const stop = (): void => listener.wake();
    this.#listeners.add(listener);
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) {
        const next = listener.waiting.shift();
        if (next) yield next;
        else
          await new Promise<void>((resolve) => {
            listener.wake = resolve;
          });
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#listeners.delete(listener);
    }
  }

  /** How many follow it. */
  get followers(): number {
    return this.#listeners.size;
  }
}

function push(entries: LogEntry[], entry: LogEntry, capacity: number): void {
  entries.push(entry);
  if (entries.length > capacity) entries.shift();
}
