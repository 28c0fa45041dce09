import type { Batch } from '../../records/batch.js';
import type { Position } from './position-file.js';

/** A batch that is on the disk, and still here. */
export interface FreshBatch {
  readonly batch: Batch;
  /** Milliseconds since the epoch. */
  readonly publishedAt: number;
  /** Name of its segment, and where in it its frame begins. */
  readonly segment: number;
  readonly offset: number;
  /** The position behind it. */
  readonly done: Position;
}

/** What all streams of a bus keep in memory together, in bytes as stored. */
export interface FreshRoom {
  bytes: number;
  readonly maxBytes: number;
}

/**
 * The newest batches of a stream. Who keeps up takes them from here: what was just written need not be read back, checked
 * and cut into lines again. Who is behind reads the files.
 */
export class FreshBatches {
  readonly #bySequence = new Map<number, FreshBatch>();
  #bytes = 0;

  constructor(private readonly room: FreshRoom) {}

  /** Kept if there is room for it. */
  add(fresh: FreshBatch): void {
    const bytes = sizeOf(fresh);
    if (this.room.bytes + bytes > this.room.maxBytes) return;
    this.#bySequence.set(fresh.done.sequence, fresh);
    this.#bytes += bytes;
    this.room.bytes += bytes;
  }

  /** The batch whose frame begins there, if it is kept. */
  at(sequence: number, segment: number, offset: number): FreshBatch | undefined {
    const fresh = this.#bySequence.get(sequence);
    return fresh?.segment === segment && fresh.offset === offset ? fresh : undefined;
  }

  /** Nobody needs what comes before `sequence`, itself included. */
  forgetUpTo(sequence: number): void {
    for (const [kept, fresh] of this.#bySequence) {
      if (kept > sequence) return;
      this.#bySequence.delete(kept);
      this.#free(sizeOf(fresh));
    }
  }

  clear(): void {
    this.#bySequence.clear();
    this.#free(this.#bytes);
  }

  #free(bytes: number): void {
    this.#bytes -= bytes;
    this.room.bytes -= bytes;
  }
}

const sizeOf = ({ batch }: FreshBatch): number => batch.bytes + batch.lines.length;
