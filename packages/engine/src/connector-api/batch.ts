import { createHash } from 'node:crypto';
import { parseLines } from './parse-lines.js';
import type { DataRecord } from './record.js';

/** Maximum number of records in a batch. */
export const MAX_BATCH_RECORDS = 500;
/** Maximum bytes of JSON in a batch, counted in UTF-8 without the line ends. */
export const MAX_BATCH_BYTES = 512 * 1024;

/**
 * Records that are moved together. A batch keeps each record as its JSON text, so that records that
 * are only stored and forwarded are never parsed; `records` parses on first use.
 */
export interface Batch {
  /**
   * The same for the same records at the same position of a source, so that duplicates can be
   * dropped.
   */
  readonly id: string;
  /** Each record as JSON on one line. */
  readonly lines: readonly string[];
  readonly records: readonly DataRecord[];
  /** UTF-8 length of the lines. */
  readonly bytes: number;
  /**
   * When the first record was ingested, in milliseconds since the epoch; set only if it is the same
   * in every redelivery.
   */
  readonly at?: number | undefined;
  /**
   * Returns the id of the record at `index`: the same in every redelivery, also in a part of the
   * batch.
   */
  recordId(index: number): string;
  /**
   * Returns the records at these indexes as a batch with its own id, or this batch if all are
   * picked.
   */
  pick(indexes: readonly number[]): Batch;
  /** Returns a batch with new JSON for the same records, one line each. */
  rewrite(lines: readonly string[]): Batch;
}

/**
 * Derives a batch id from what identifies the batch: pipeline, node, position in the source, text.
 * 128 bits, `A-Za-z0-9_-`.
 *
 * @example
 * ```ts
 * batchId('pipeline-1', 'node-1', 'offset 42'); // 22 characters
 * ```
 */
export function batchId(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest('base64url').slice(0, 22);
}

/**
 * Creates a batch from NDJSON lines.
 * @param lines one JSON object per line, without line breaks; not checked
 * @param bytes UTF-8 length of the lines; not checked
 *
 * @example
 * ```ts
 * const batch = createBatch(batchId('pipeline-1', 'node-1', '0'), ['{"a":1}', '{"a":2}']);
 * ```
 */
export function createBatch(id: string, lines: readonly string[], bytes = byteLength(lines)): Batch {
  return new LineBatch(id, id, lines, bytes);
}

const byteLength = (lines: readonly string[]): number =>
  lines.reduce((sum, line) => sum + Buffer.byteLength(line, 'utf8'), 0);

class LineBatch implements Batch {
  readonly id: string;
  readonly #origin: string;
  readonly lines: readonly string[];
  readonly bytes: number;
  readonly #positions: readonly number[] | undefined;
  #parsed: readonly DataRecord[] | undefined;

  constructor(
    id: string,
    /**
     * Id of the batch this one was taken from: with `positions`, it gives records the same ids in
     * every part.
     */
    origin: string,
    lines: readonly string[],
    bytes: number,
    positions?: readonly number[],
  ) {
    this.id = id;
    this.#origin = origin;
    this.lines = lines;
    this.bytes = bytes;
    this.#positions = positions;
  }

  get records(): readonly DataRecord[] {
    this.#parsed ??= parseLines(this.lines);
    return this.#parsed;
  }

  recordId(index: number): string {
    return `${this.#origin}.${this.#positions?.[index] ?? index}`;
  }

  pick(indexes: readonly number[]): Batch {
    if (indexes.length === this.lines.length) return this;
    const positions = indexes.map((index) => this.#positions?.[index] ?? index);
    const lines = indexes.map((index) => this.lines[index] ?? '{}');
    const id = batchId(this.#origin, positions.join());
    return new LineBatch(id, this.#origin, lines, byteLength(lines), positions);
  }

  rewrite(lines: readonly string[]): Batch {
    return new LineBatch(this.id, this.#origin, lines, byteLength(lines), this.#positions);
  }
}
