import { createHash } from 'node:crypto';
import { parseLines } from './parse-lines.js';
import type { DataRecord } from './record.js';

/** At most this many records go together. */
export const MAX_BATCH_RECORDS = 500;
/** At most this many bytes of JSON go together, counted in UTF-8 without the line ends. */
export const MAX_BATCH_BYTES = 512 * 1024;

/**
 * Records that travel together. A batch keeps each record as its JSON text, so that one that is only stored and passed
 * on is never parsed; `records` parses on first use.
 */
export interface Batch {
  /** The same for the same records at the same place of a source, so that a repeat can be told and dropped. */
  readonly id: string;
  /** Each record as JSON on one line. */
  readonly lines: readonly string[];
  readonly records: readonly DataRecord[];
  /** UTF-8 length of the lines. */
  readonly bytes: number;
  /** When the first of them was taken in, milliseconds since the epoch, where that is the same in every repeat. */
  readonly at?: number | undefined;
  /** Id of the record at `index`: the same in every repeat, also in a part of the batch. */
  recordId(index: number): string;
  /** The records at these indexes, as a batch with an id of its own; the batch itself when that is all of them. */
  pick(indexes: readonly number[]): Batch;
  /** Other texts for the same records, one each. */
  rewrite(lines: readonly string[]): Batch;
}

/** The id of a batch from what tells it apart: pipeline, node, place in the source, text. 128 bits, `A-Za-z0-9_-`. */
export function batchId(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest('base64url').slice(0, 22);
}

/** A batch of texts, each the JSON of one object on one line, and their length in UTF-8. The caller answers for that. */
export function createBatch(id: string, lines: readonly string[], bytes = byteLength(lines)): Batch {
  return new LineBatch(id, id, lines, bytes);
}

const byteLength = (lines: readonly string[]): number =>
  lines.reduce((sum, line) => sum + Buffer.byteLength(line, 'utf8'), 0);

class LineBatch implements Batch {
  #parsed: readonly DataRecord[] | undefined;

  constructor(
    readonly id: string,
    /** Id and positions of the batch this one was taken from: records keep their ids in every part. */
    private readonly origin: string,
    readonly lines: readonly string[],
    readonly bytes: number,
    private readonly positions?: readonly number[],
  ) {}

  get records(): readonly DataRecord[] {
    this.#parsed ??= parseLines(this.lines);
    return this.#parsed;
  }

  recordId(index: number): string {
    return `${this.origin}.${this.positions?.[index] ?? index}`;
  }

  pick(indexes: readonly number[]): Batch {
    if (indexes.length === this.lines.length) return this;
    const positions = indexes.map((index) => this.positions?.[index] ?? index);
    const lines = indexes.map((index) => this.lines[index] ?? '{}');
    const id = batchId(this.origin, positions.join());
    return new LineBatch(id, this.origin, lines, byteLength(lines), positions);
  }

  rewrite(lines: readonly string[]): Batch {
    return new LineBatch(this.id, this.origin, lines, byteLength(lines), this.positions);
  }
}
