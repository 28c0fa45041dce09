import { createHash } from 'node:crypto';
import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { at, texts } from '../read.js';

/** Cursor value and tie-breakers of a row, as text. */
export type Place = readonly string[];

/** Rows that were read as one page: their keys, and the place after which the page began. */
interface RecentPage {
  /** Absent: the beginning of the table. */
  from?: Place;
  /** When the newest of them was first seen, in seconds since the epoch. */
  at: number;
  keys: string;
}

/** Read position in one table. */
export interface TablePosition {
  /** The cursor column. Another one has another order, so the table is read again. */
  column: string;
  /** The last row in order that was read; absent: none. */
  after?: Place;
  /** Rows that are read again, because others may still appear between them. */
  recent: readonly RecentPage[];
}

/** 60 bits of a SHA-256. */
const KEY_LENGTH = 10;

export interface RecentRowsOptions {
  /** Milliseconds since the epoch. */
  now: number;
  /** Milliseconds that a row may be committed later than rows with larger cursor values. */
  lookbackMs: number;
  /** Maximum number of rows to remember. */
  limit: number;
}

/**
 * One pass over a table in the order of its cursor column. Databases assign numbers and times when a
 * row is written, not when it is committed, so a row may appear before others that were already
 * read. A pass therefore starts before the rows of the last minutes, and skips those it knows.
 */
export class RecentRows {
  readonly #column: string;
  readonly #options: RecentRowsOptions;
  /** When rows were first seen, and how many have the same key: not every product enforces that it is unique. */
  readonly #known = new Map<string, { seen: number; count: number }>();
  #pages: RecentPage[] = [];
  #after: Place | undefined;

  constructor(column: string, before: TablePosition | undefined, options: RecentRowsOptions) {
    this.#column = column;
    this.#options = options;
    if (before?.column !== column) return;
    const recent = this.#trim(before.recent);
    this.#after = recent[0] ? recent[0].from : before.after;
    for (const { keys, at: seen } of recent)
      for (let start = 0; start < keys.length; start += KEY_LENGTH)
        this.#remember(keys.slice(start, start + KEY_LENGTH), seen);
  }

  /** The place after which the next page begins; `undefined`: the beginning of the table. */
  get after(): Place | undefined {
    return this.#after;
  }

  /** Adds the next page, and returns for each row whether it is new. */
  add(places: readonly Place[]): boolean[] {
    const now = Math.floor(this.#options.now / 1_000);
    let newest = 0;
    const keys = places.map(keyOf);
    const isNew = keys.map((key) => {
      const known = this.#known.get(key);
      newest = Math.max(newest, known?.seen ?? now);
      if (!known) return true;
      known.count -= 1;
      if (known.count === 0) this.#known.delete(key);
      return false;
    });
    const last = places.at(-1);
    if (!last) return [];
    const from = this.#after;
    this.#pages = this.#trim([...this.#pages, { ...(from && { from }), at: newest, keys: keys.join('') }]);
    this.#after = last;
    return isNew;
  }

  /** Returns the position within the pass. A pass that continues from it starts again. */
  get position(): TablePosition {
    const rest = [...this.#known];
    const from = this.#after;
    const keys = rest.map(([key, { count }]) => key.repeat(count)).join('');
    const left = { ...(from && { from }), at: Math.max(...rest.map(([, { seen }]) => seen)), keys };
    const unread = rest.length === 0 ? [] : [left];
    return this.#store([...this.#pages, ...unread]);
  }

  /** Returns the position after the pass. */
  end(): TablePosition {
    return this.#store(this.#pages);
  }

  #remember(key: string, seen: number): void {
    const known = this.#known.get(key);
    if (known) known.count += 1;
    else this.#known.set(key, { seen, count: 1 });
  }

  #store(recent: readonly RecentPage[]): TablePosition {
    return { column: this.#column, ...(this.#after && { after: this.#after }), recent };
  }

  #trim(pages: readonly RecentPage[]): RecentPage[] {
    const { now, lookbackMs, limit } = this.#options;
    const kept = [...pages];
    let count = kept.reduce((sum, { keys }) => sum + keys.length / KEY_LENGTH, 0);
    for (let [first] = kept; first; [first] = kept) {
      if (count <= limit && first.at * 1_000 > now - lookbackMs) break;
      count -= first.keys.length / KEY_LENGTH;
      kept.shift();
    }
    return kept;
  }
}

const keyOf = (place: Place): string =>
  createHash('sha256').update(JSON.stringify(place)).digest('base64url').slice(0, KEY_LENGTH);

/** Parses a stored position; `undefined` if it is malformed. */
export function readPosition(value: unknown): TablePosition | undefined {
  const [column, after, recent] = [at(value, 'column'), readPlace(value, 'after'), at(value, 'recent')];
  if (typeof column !== 'string' || !Array.isArray(recent)) return undefined;
  const pages = recent.flatMap((page: unknown): RecentPage[] => {
    const [seen, keys, from] = [at(page, 'at'), at(page, 'keys'), readPlace(page, 'from')];
    if (typeof seen !== 'number' || typeof keys !== 'string' || keys.length % KEY_LENGTH !== 0) return [];
    return [{ ...(from && { from }), at: seen, keys }];
  });
  // Without one of the pages, its rows would be delivered again.
  return { column, ...(after && { after }), recent: pages.length === recent.length ? pages : [] };
}

function readPlace(value: unknown, key: string): Place | undefined {
  const place = texts(value, key);
  return place.length > 0 ? place : undefined;
}

/** Parses the positions of all tables. */
export function readPositions(cursor: JsonValue | undefined): Map<string, TablePosition> {
  const tables = at(cursor, 'tables');
  if (!isRecord(tables)) return new Map();
  return new Map(
    Object.entries(tables).flatMap(([name, value]): [string, TablePosition][] => {
      const position = readPosition(value);
      return position ? [[name, position]] : [];
    }),
  );
}

/** Serializes the positions for the engine. */
export function writePositions(positions: ReadonlyMap<string, TablePosition>): JsonValue {
  const value: JsonValue = JSON.parse(JSON.stringify({ tables: Object.fromEntries(positions) }));
  return value;
}
