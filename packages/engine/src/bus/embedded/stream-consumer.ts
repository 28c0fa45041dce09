import type { Waiting } from '../bus.js';
import type { Position, PositionFile } from './position-file.js';
import type { Segments } from './segments.js';

/** Tracks the position of one consumer of a stream. */
export class StreamConsumer {
  readonly #segments: Segments;
  readonly #file: PositionFile | undefined;
  #position: Position;

  constructor(segments: Segments, file: PositionFile | undefined, saved: Position | undefined) {
    this.#segments = segments;
    this.#file = file;
    const segment = saved && segments.list.find(({ first }) => first === saved.segment);
    const isValid = segment && saved.offset <= segment.size && saved.sequence <= segments.lastSequence;
    // A missing segment was fully acknowledged: continue after it.
    this.#position = isValid ? saved : startOf(segments);
  }

  get position(): Position {
    return this.#position;
  }

  /** The position as a byte offset in the stream. */
  get byteOffset(): number {
    const { list } = this.#segments;
    const segment = list.find(({ first }) => first === this.#position.segment);
    return segment ? segment.base + this.#position.offset : (list[0]?.base ?? 0);
  }

  waiting(): Waiting {
    const segments = this.#segments;
    return {
      batches: Math.max(0, segments.lastSequence - this.#position.sequence),
      records: Math.max(0, segments.records - this.#position.records),
      bytes: segments.end - this.byteOffset,
    };
  }

  /** Acknowledges all batches up to `to`. */
  async advance(to: Position): Promise<void> {
    if (to.sequence <= this.#position.sequence) return;
    this.#position = to;
    await this.#file?.write(to);
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async remove(): Promise<void> {
    await this.#file?.remove();
  }
}

function startOf({ list: [first], lastSequence, records }: Segments): Position {
  return first
    ? { sequence: first.first - 1, segment: first.first, offset: 0, records: first.recordsBefore }
    : { sequence: lastSequence, segment: 0, offset: 0, records };
}
