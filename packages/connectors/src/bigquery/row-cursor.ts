import { createHash } from 'node:crypto';
import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';
import { at, text, texts } from '../_shared/read.js';

/** Maximum number of rows with the greatest value that are remembered individually. */
const MAX_ROWS = 5_000;
const HASH = 11;

/**
 * How far a table was read by a column: the greatest value, and which rows have it, since others with
 * the same value may be added later.
 */
export class RowCursor {
  #value: string | undefined;
  #type = 'STRING';
  /** Number of delivered rows with the value, by their hash. */
  #rows = new Map<string, number>();

  /** Parses a saved cursor. A malformed one is that of the beginning. */
  static read(saved: JsonValue | undefined): RowCursor {
    const cursor = new RowCursor();
    cursor.#value = text(saved, 'value');
    cursor.#type = text(saved, 'type') ?? 'STRING';
    for (const hash of texts(saved, 'rows')) cursor.#count(hash);
    return cursor;
  }

  toJson(): JsonValue {
    const rows = [...this.#rows].flatMap(([hash, count]) => Array.from({ length: count }, () => hash));
    return this.#value === undefined ? {} : { value: this.#value, type: this.#type, rows };
  }

  /** The value to read from, and its type. `includes`: rows with this value are read again. */
  get from(): { value: string; type: string; includes: boolean } | undefined {
    if (this.#value === undefined) return undefined;
    return { value: this.#value, type: this.#type, includes: this.#rows.size > 0 };
  }

  /**
   * Returns a function that tells for each row of a run, in the order of the column, whether it is
   * new, and moves the position.
   */
  start(column: string): (record: DataRecord, type: string) => boolean {
    const [before, known] = [this.#value, new Map(this.#rows)];
    return (record, type) => {
      const found = at(record, column);
      const value = typeof found === 'string' ? found : JSON.stringify(found);
      const hash = hashOf(record);
      const left = value === before ? (known.get(hash) ?? 0) : 0;
      if (left > 0) {
        known.set(hash, left - 1);
        return false;
      }
      if (value !== this.#value) this.#rows.clear();
      this.#value = value;
      this.#type = type;
      this.#count(hash);
      return true;
    };
  }

  /** Ends a run: too many rows with one value are not remembered, and no more of them are read. */
  finish(): void {
    let count = 0;
    for (const each of this.#rows.values()) count += each;
    if (count > MAX_ROWS) this.#rows.clear();
  }

  #count(hash: string): void {
    this.#rows.set(hash, (this.#rows.get(hash) ?? 0) + 1);
  }
}

const hashOf = (record: DataRecord): string =>
  createHash('sha256').update(JSON.stringify(record)).digest('base64url').slice(0, HASH);
