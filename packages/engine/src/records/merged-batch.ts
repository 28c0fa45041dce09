import { batchId, type Batch } from '../connector-api/batch.js';
import { parseLines } from '../connector-api/parse-lines.js';
import type { DataRecord } from '../connector-api/record.js';

/** A record as one line of JSON, with its existing id. */
export interface NamedLine {
  text: string;
  recordId: string;
}

/** Creates a batch of records that already have ids. */
export function createNamedBatch(id: string, lines: readonly NamedLine[], at?: number): Batch {
  const bytes = lines.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return new MergedBatch(id, lines, bytes, at);
}

/** Merges several batches into one, in order. Records keep their ids; `at` as in `Batch`. */
export function mergeBatches(id: string, parts: readonly Batch[], at?: number): Batch {
  const lines = parts.flatMap((part) => part.lines.map((text, index) => ({ text, recordId: part.recordId(index) })));
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  return new MergedBatch(id, lines, bytes, at);
}

class MergedBatch implements Batch {
  readonly id: string;
  readonly #all: readonly NamedLine[];
  readonly bytes: number;
  readonly at: number | undefined;
  readonly lines: readonly string[];
  #parsed: readonly DataRecord[] | undefined;

  constructor(id: string, all: readonly NamedLine[], bytes: number, at: number | undefined) {
    this.id = id;
    this.#all = all;
    this.bytes = bytes;
    this.at = at;
    this.lines = all.map(({ text }) => text);
  }

  get records(): readonly DataRecord[] {
    this.#parsed ??= parseLines(this.lines);
    return this.#parsed;
  }

  recordId(index: number): string {
    return this.#all[index]?.recordId ?? `${this.id}.${index}`;
  }

  pick(indexes: readonly number[]): Batch {
    if (indexes.length === this.#all.length) return this;
    const picked = indexes.flatMap((index) => this.#all[index] ?? []);
    return this.#of(batchId(this.id, indexes.join()), picked);
  }

  rewrite(lines: readonly string[]): Batch {
    return this.#of(
      this.id,
      lines.map((text, index) => ({ text, recordId: this.recordId(index) })),
    );
  }

  #of(id: string, lines: readonly NamedLine[]): Batch {
    return createNamedBatch(id, lines, this.at);
  }
}
