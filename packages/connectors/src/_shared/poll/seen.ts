import { createHash } from 'node:crypto';
import type { PollRecords } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';

/**
 * A delivered record: a hash of its id or content, its time in milliseconds since the epoch, and
 * its number of occurrences.
 */
export type SeenEntry = readonly [key: string, time: number, count: number];

/**
 * Deduplicates records where consecutive time windows overlap. Records without an id are compared
 * by content and counted, so that identical records are each delivered.
 */
export class SeenRecords {
  readonly #known: Map<string, { time: number; count: number }>;
  readonly #inThisPass = new Map<string, number>();

  constructor(
    entries: readonly SeenEntry[],
    private readonly id: PollRecords['id'],
    private readonly limit: number,
  ) {
    this.#known = new Map(entries.map(([key, time, count]) => [key, { time, count }]));
  }

  /**
   * Whether this pass contained records without an id. Their occurrences are counted from the start
   * of the pass, so it can't be resumed midway.
   */
  get counted(): boolean {
    return this.#inThisPass.size > 0;
  }

  /** Returns whether a record is new, and adds it. */
  isNew(record: DataRecord, time: number): boolean {
    const id = this.#idOf(record);
    const key = hash(id ?? JSON.stringify(record));
    const known = this.#known.get(key);
    if (known) known.time = Math.max(known.time, time);
    if (id !== undefined) {
      if (!known) this.#known.set(key, { time, count: 1 });
      return !known;
    }
    const nth = (this.#inThisPass.get(key) ?? 0) + 1;
    this.#inThisPass.set(key, nth);
    if (known && known.count >= nth) return false;
    this.#known.set(key, { time, count: nth });
    return true;
  }

  /** Returns the newest entries since `from`, at most `limit`. */
  entries(from = 0): SeenEntry[] {
    const kept = [...this.#known].filter(([, { time }]) => time >= from);
    if (kept.length > this.limit) kept.sort(([, a], [, b]) => b.time - a.time).splice(this.limit);
    return kept.map(([key, { time, count }]) => [key, time, count]);
  }

  #idOf(record: DataRecord): string | undefined {
    if (typeof this.id === 'string') return textOf(getAt(record, this.id));
    if (this.id === undefined) return undefined;
    const parts = this.id.map((path) => textOf(getAt(record, path)));
    return parts.every((part) => part !== undefined) ? JSON.stringify(parts) : undefined;
  }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 12);

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' ? String(value) : undefined;
}

/** Parses the entries of a stored cursor; drops invalid ones. */
export function readSeen(value: JsonValue | undefined): SeenEntry[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown): SeenEntry[] => {
    if (!Array.isArray(entry)) return [];
    const [key, time, count]: unknown[] = entry;
    return typeof key === 'string' && typeof time === 'number' && typeof count === 'number' ? [[key, time, count]] : [];
  });
}
