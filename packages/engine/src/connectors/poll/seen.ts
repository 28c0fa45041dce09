import { createHash } from 'node:crypto';
import type { PollRecords } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { DataRecord, JsonValue } from '../../records/record.js';

/** A record that was delivered: a hash of what tells it apart, its time in milliseconds, how often it was there. */
export type SeenEntry = readonly [key: string, time: number, count: number];

/**
 * The records of the last stretch of time, so that they are not delivered again when the next one reaches back. Records
 * without an id are told by all they hold, and counted: two that are the same are two.
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

  /** Whether some record of this pass had no id: the pass can then only be counted from its beginning. */
  get counted(): boolean {
    return this.#inThisPass.size > 0;
  }

  /** Whether a record was not there before; it is from now on. */
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

  /** What is kept: nothing before `from`, and at most the limit, the oldest left out first. */
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

/** Entries as a cursor holds them, and only those. */
export function readSeen(value: JsonValue | undefined): SeenEntry[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown): SeenEntry[] => {
    if (!Array.isArray(entry)) return [];
    const [key, time, count]: unknown[] = entry;
    return typeof key === 'string' && typeof time === 'number' && typeof count === 'number' ? [[key, time, count]] : [];
  });
}
