/** A record that passed a node. */
export interface RecordSample {
  /** When it passed, in milliseconds since the epoch. */
  readonly at: number;
  /** JSON of the record. Absent if it is larger than 64 KiB. */
  readonly line?: string;
  /** Size in bytes. */
  readonly bytes: number;
  /** Records that passed since the previous sample and were not shown. */
  readonly skipped: number;
}

interface Reader {
  readonly waiting: RecordSample[];
  /** Bytes of the lines that wait. */
  bytes: number;
  skipped: number;
  /** Start of the current second, and how many samples it had. */
  since: number;
  count: number;
  wake: () => void;
}

/** Maximum number of samples for one reader in one second. */
const PER_SECOND = 50;
const MAX_LINE_BYTES = 64 * 1024;
/** Maximum number and size of the samples that wait for a slow reader. */
const MAX_WAITING = 100;
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Shows readers some of the records that pass the nodes of one pipeline. Delivery never waits for a
 * reader: what a reader can't take is skipped and counted. Without readers, nothing is kept.
 */
export class RecordSamples {
  readonly #now: () => number;
  readonly #readers = new Map<string, Set<Reader>>();

  /** @param now returns milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Offers records that left a node to its readers. */
  offer(nodeId: string, lines: readonly string[]): void {
    const readers = this.#readers.get(nodeId);
    if (!readers || lines.length === 0) return;
    const now = this.#now();
    for (const reader of readers) {
      for (const line of lines) take(reader, line, now);
      reader.wake();
    }
  }

  /** Yields records that leave a node from now on, until `signal` is aborted. */
  async *follow(nodeId: string, signal: AbortSignal): AsyncGenerator<RecordSample, void, void> {
    const reader: Reader = { waiting: [], bytes: 0, skipped: 0, since: 0, count: 0, wake: () => undefined };
    const stop = (): void => reader.wake();
    const readers = this.#readers.get(nodeId) ?? new Set();
    this.#readers.set(nodeId, readers.add(reader));
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) {
        const next = reader.waiting.shift();
        if (next) {
          reader.bytes -= next.line === undefined ? 0 : next.bytes;
          yield next;
        } else
          await new Promise<void>((resolve) => {
            reader.wake = resolve;
          });
      }
    } finally {
      signal.removeEventListener('abort', stop);
      readers.delete(reader);
      if (readers.size === 0) this.#readers.delete(nodeId);
    }
  }

  /** Number of readers of all nodes. */
  get readers(): number {
    return [...this.#readers.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

function take(reader: Reader, line: string, now: number): void {
  // The clock may have been set back.
  if (now - reader.since >= 1_000 || now < reader.since) {
    reader.since = now;
    reader.count = 0;
  }
  const isLate = reader.waiting.length >= MAX_WAITING || reader.bytes >= MAX_WAITING_BYTES;
  if (isLate || reader.count >= PER_SECOND) {
    reader.skipped += 1;
    return;
  }
  const bytes = Buffer.byteLength(line);
  const isShown = bytes <= MAX_LINE_BYTES;
  reader.waiting.push({ at: now, ...(isShown && { line }), bytes, skipped: reader.skipped });
  if (isShown) reader.bytes += bytes;
  reader.skipped = 0;
  reader.count += 1;
}
