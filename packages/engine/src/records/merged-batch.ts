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
  const texts = lines.map(({ text }) => text);
  return new NamedBatch(id, texts, bytes, (index) => lines[index]?.recordId, at);
}

/** Merges several batches into one, in order. Records keep their ids; `at` as in `Batch`. */
export function mergeBatches(id: string, parts: readonly Batch[], at?: number): Batch {
  const lines = parts.flatMap((part) => part.lines);
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  // Ids are built on demand: most outputs never read them.
  let last = { part: 0, start: 0 };
  const recordId = (index: number): string | undefined => {
    let { part, start } = index >= last.start ? last : { part: 0, start: 0 };
    for (let size = parts[part]?.lines.length; size !== undefined && index >= start + size;) {
      start += size;
      part += 1;
      size = parts[part]?.lines.length;
    }
    last = { part, start };
    return parts[part]?.recordId(index - start);
  };
  return new NamedBatch(id, lines, bytes, recordId, at);
}

class NamedBatch implements Batch {
  readonly id: string;
  readonly lines: readonly string[];
  readonly bytes: number;
  readonly at: number | undefined;
  readonly #recordId: (index: number) => string | undefined;
  #parsed: readonly DataRecord[] | undefined;

  constructor(
    id: string,
    lines: readonly string[],
    bytes: number,
    recordId: (index: number) => string | undefined,
    at: number | undefined,
  ) {
    this.id = id;
    this.lines = lines;
    this.bytes = bytes;
    this.at = at;
    this.#recordId = recordId;
  }

  get records(): readonly DataRecord[] {
    this.#parsed ??= parseLines(this.lines);
    return this.#parsed;
  }

  recordId(index: number): string {
    return this.#recordId(index) ?? `${this.id}.${index}`;
  }

  pick(indexes: readonly number[]): Batch {
    if (indexes.length === this.lines.length) return this;
    const picked = indexes.flatMap((index) => {
      const text = this.lines[index];
      return text === undefined ? [] : [{ text, recordId: this.recordId(index) }];
    });
    return createNamedBatch(batchId(this.id, indexes.join()), picked, this.at);
  }

  rewrite(lines: readonly string[]): Batch {
    const named = lines.map((text, index) => ({ text, recordId: this.recordId(index) }));
    return createNamedBatch(this.id, named, this.at);
  }
}
