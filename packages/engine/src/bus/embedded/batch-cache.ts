import type { Batch } from '../../connector-api/batch.js';
import type { Position } from './position-file.js';

/** A batch that is stored on disk and still cached in memory. */
export interface CachedBatch {
  readonly batch: Batch;
  /** Milliseconds since the epoch. */
  readonly publishedAt: number;
  /** Name of its segment, and the offset of its frame in it. */
  readonly segment: number;
  readonly offset: number;
  /** The position after this batch. */
  readonly done: Position;
}

/** Memory budget shared by all streams of a bus, in bytes as stored. */
export interface CacheBudget {
  bytes: number;
  readonly maxBytes: number;
}

/**
 * Write-through cache of the newest batches of a stream. A consumer that keeps up reads from it and
 * skips reading, verifying and splitting the stored frames. A consumer that lags reads the files.
 */
export class BatchCache {
  readonly #budget: CacheBudget;
  readonly #bySequence = new Map<number, CachedBatch>();
  #bytes = 0;

  constructor(budget: CacheBudget) {
    this.#budget = budget;
  }

  /** Caches the batch if the budget allows it. */
  add(cached: CachedBatch): void {
    const bytes = sizeOf(cached);
    if (this.#budget.bytes + bytes > this.#budget.maxBytes) return;
    this.#bySequence.set(cached.done.sequence, cached);
    this.#bytes += bytes;
    this.#budget.bytes += bytes;
  }

  /** Returns the batch whose frame begins at this offset, if it is cached. */
  at(sequence: number, segment: number, offset: number): CachedBatch | undefined {
    const cached = this.#bySequence.get(sequence);
    return cached?.segment === segment && cached.offset === offset ? cached : undefined;
  }

  /** Drops all batches up to and including `sequence`. */
  dropUpTo(sequence: number): void {
    for (const [key, cached] of this.#bySequence) {
      if (key > sequence) return;
      this.#bySequence.delete(key);
      this.#free(sizeOf(cached));
    }
  }

  clear(): void {
    this.#bySequence.clear();
    this.#free(this.#bytes);
  }

  #free(bytes: number): void {
    this.#bytes -= bytes;
    this.#budget.bytes -= bytes;
  }
}

const sizeOf = ({ batch }: CachedBatch): number => batch.bytes + batch.lines.length;
