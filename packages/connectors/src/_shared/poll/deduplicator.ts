import { createHash } from 'node:crypto';
import type { PollRecords } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { DataRecord } from '@connector-frame/engine/connector-api';
import { decodeSeen, encodeSeen, KEY_LENGTH, type Occurrences, type SeenGroup } from './seen.js';

/** Keys of the most recent records, kept in addition to the newest ones: pages may overlap. */
const RECENT = 1_000;

/**
 * Deduplicates records where consecutive time windows overlap. Records without an id are compared
 * by content and counted, so that identical records are each delivered. Memory is bounded by
 * `limit`, however many records a window has.
 */
export class Deduplicator {
  #known: Map<string, Occurrences>;
  readonly #inThisPass = new Map<string, number>();
  #counted = false;
  /** Records up to this time may have been forgotten, in milliseconds since the epoch. */
  #forgottenUntil = Number.NEGATIVE_INFINITY;
  readonly #id: PollRecords['id'];
  readonly #limit: number;

  constructor(seen: readonly SeenGroup[], id: PollRecords['id'], limit: number) {
    this.#id = id;
    this.#limit = limit;
    this.#known = decodeSeen(seen);
    // As many as are ever stored: there may have been more.
    if (this.#known.size >= limit) this.#forgottenUntil = Math.min(...seen.map(([time]) => time));
  }

  /**
   * Whether this pass contained records without an id. Their occurrences are counted from the start
   * of the pass, so it can't be resumed midway.
   */
  get counted(): boolean {
    return this.#counted;
  }

  /** Returns whether a record is new, and adds it. */
  isNew(record: DataRecord, time: number): boolean {
    const id = this.#idOf(record);
    const key = hash(id ?? JSON.stringify(record));
    const known = this.#known.get(key);
    if (known) known.time = Math.max(known.time, time);
    if (id !== undefined) {
      if (!known) this.#add(key, { time, count: 1 });
      return !known;
    }
    this.#counted = true;
    const nth = (this.#inThisPass.get(key) ?? 0) + 1;
    this.#inThisPass.set(key, nth);
    if (known && known.count >= nth) return false;
    this.#add(key, { time: Math.max(known?.time ?? time, time), count: nth });
    return true;
  }

  /**
   * Returns what to store: the newest keys since `from`, at most `limit`.
   *
   * @param spanMs the time that the keys to store cover, which sets their resolution
   */
  seen(from: number, spanMs: number): SeenGroup[] {
    const kept = [...this.#known].filter(([, { time }]) => time >= from).sort(newestFirst);
    this.#forget(kept.splice(this.#limit));
    return encodeSeen(kept, spanMs);
  }

  /**
   * Returns the start of the time since which all records are remembered. A window that starts
   * earlier would repeat some.
   */
  get completeSince(): number {
    return this.#forgottenUntil + 1;
  }

  #add(key: string, occurrences: Occurrences): void {
    this.#known.set(key, occurrences);
    if (this.#known.size > 2 * (this.#limit + RECENT)) this.#prune();
  }

  #prune(): void {
    const all = [...this.#known];
    const recent = all.splice(-RECENT);
    const kept = all.sort(newestFirst);
    const dropped = kept.splice(this.#limit);
    this.#forget(dropped);
    for (const [key] of dropped) this.#inThisPass.delete(key);
    this.#known = new Map([...kept.reverse(), ...recent]);
  }

  #forget(dropped: readonly (readonly [string, Occurrences])[]): void {
    for (const [, { time }] of dropped) this.#forgottenUntil = Math.max(this.#forgottenUntil, time);
  }

  #idOf(record: DataRecord): string | undefined {
    if (typeof this.#id === 'string') return textOf(getAt(record, this.#id));
    if (this.#id === undefined) return undefined;
    const parts = this.#id.map((path) => textOf(getAt(record, path)));
    return parts.every((part) => part !== undefined) ? JSON.stringify(parts) : undefined;
  }
}

const newestFirst = ([, a]: readonly [string, Occurrences], [, b]: readonly [string, Occurrences]): number =>
  b.time - a.time;

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, KEY_LENGTH);

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' ? String(value) : undefined;
}
