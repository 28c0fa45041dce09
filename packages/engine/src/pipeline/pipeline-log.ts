import type { LogEntry, NewLogEntry } from '../connector-api/log-entry.js';

interface Listener {
  readonly waiting: LogEntry[];
  /** Called when there are more entries or the tail ends. */
  wake: () => void;
}

const noop = (): void => undefined;

export interface PipelineLogOptions {
  /** Maximum number of entries kept, and queued for each slow reader. Default 500. */
  capacity?: number;
  /** Returns the sequence of the next entry, higher than all before. Default: one more than the last. */
  nextSequence?: () => number;
  /** Entries of an earlier process, oldest first, to continue with. */
  past?: readonly LogEntry[];
  /** Called with each new entry. */
  onAdd?: (entry: LogEntry) => void;
}

/** Keeps the latest entries of one pipeline in memory and streams new ones to followers. */
export class PipelineLog {
  readonly #now: () => number;
  readonly #capacity: number;
  readonly #entries: LogEntry[];
  readonly #onAdd: ((entry: LogEntry) => void) | undefined;
  readonly #nextSequence: () => number;
  readonly #listeners = new Set<Listener>();

  /** @param now returns milliseconds since the epoch */
  constructor(now: () => number, { capacity = 500, nextSequence, past = [], onAdd }: PipelineLogOptions = {}) {
    this.#now = now;
    this.#capacity = capacity;
    this.#entries = past.slice(-capacity);
    this.#onAdd = onAdd;
    let last = this.#entries.at(-1)?.sequence ?? 0;
    this.#nextSequence = nextSequence ?? (() => (last += 1));
  }

  add(entry: NewLogEntry): void {
    const added: LogEntry = { sequence: this.#nextSequence(), at: this.#now(), ...entry };
    push(this.#entries, added, this.#capacity);
    for (const listener of this.#listeners) {
      push(listener.waiting, added, this.#capacity);
      listener.wake();
    }
    this.#onAdd?.(added);
  }

  /** Drops the oldest entries, so that at most `count` are left. */
  trim(count: number): void {
    this.#entries.splice(0, Math.max(0, this.#entries.length - count));
  }

  /** Number of entries kept. */
  get size(): number {
    return this.#entries.length;
  }

  /** Returns the latest entries, oldest first. */
  entries(limit = this.#capacity): readonly LogEntry[] {
    return limit <= 0 ? [] : this.#entries.slice(-limit);
  }

  /**
   * Yields the kept entries after sequence `after`, then new ones, until `signal` is aborted. A
   * slow reader misses the oldest.
   */
  async *tail(signal: AbortSignal, after = 0): AsyncGenerator<LogEntry, void, void> {
    const listener: Listener = {
      waiting: this.#entries.filter(({ sequence }) => sequence > after),
      wake: noop,
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

  /** Number of active tails. */
  get followers(): number {
    return this.#listeners.size;
  }
}

function push(entries: LogEntry[], entry: LogEntry, capacity: number): void {
  entries.push(entry);
  if (entries.length > capacity) entries.shift();
}
