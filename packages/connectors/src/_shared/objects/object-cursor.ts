import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { GrownObjects } from './grown-objects.js';
import type { GrowthPosition } from './growing-parser.js';
import { HASH, hashOf } from './object-hash.js';
import type { Listed } from './store.js';

/**
 * How long after its timestamp an object may become visible, in milliseconds. A multipart upload
 * has the time at which it started.
 */
export const OVERLAP_MS = 3_600_000;
/** Maximum number of objects remembered individually. */
const MAX_SEEN = 10_000;

interface Mark {
  time: number;
  key: string;
}

/** The object currently being read. */
interface Current extends Mark {
  etag: string;
  /** Number of items already delivered, including unreadable ones. */
  items: number;
}

/**
 * Tracks which objects are done, by timestamp and then by key, so that keys need no chronological
 * order. All objects up to `floor` are done; after it, done objects are remembered individually.
 * The floor stays one hour behind the last full listing, for objects that become visible late. It
 * follows more closely if more than 10,000 objects fall into that hour. See decision 014.
 */
export class ObjectCursor {
  #floor: Mark;
  /** Timestamps by hash of key and content. */
  readonly #seen = new Map<string, number>();
  #limit = MAX_SEEN;
  #current: Current | undefined;
  #grown = new GrownObjects();

  private constructor(floor: Mark) {
    this.#floor = floor;
  }

  /** Creates a position that covers everything from `time` on, in milliseconds since the epoch. */
  static from(time: number): ObjectCursor {
    return new ObjectCursor({ time, key: '' });
  }

  /** Parses a saved cursor. Returns `undefined` if it is malformed. */
  static read(saved: JsonValue | undefined): ObjectCursor | undefined {
    if (!isRecord(saved)) return undefined;
    const floor = markOf(saved['floor']);
    if (!floor) return undefined;
    const progress = new ObjectCursor(floor);
    const groups = Array.isArray(saved['seen']) ? saved['seen'] : [];
    for (const group of groups) {
      if (!Array.isArray(group) || typeof group[0] !== 'number' || typeof group[1] !== 'string') continue;
      for (let at = 0; at < group[1].length; at += HASH) progress.#seen.set(group[1].slice(at, at + HASH), group[0]);
    }
    const { current } = saved;
    const mark = markOf(current);
    if (mark && isRecord(current) && typeof current['etag'] === 'string' && typeof current['items'] === 'number')
      progress.#current = { ...mark, etag: current['etag'], items: current['items'] };
    progress.#grown = GrownObjects.read(saved['grown']);
    return progress;
  }

  /** Serializes the position as a cursor. */
  toJson(): JsonValue {
    const groups = new Map<number, string>();
    for (const [hash, time] of this.#seen) groups.set(time, (groups.get(time) ?? '') + hash);
    return {
      floor: { ...this.#floor },
      seen: [...groups].sort(([a], [b]) => a - b),
      ...(this.#current && { current: { ...this.#current } }),
      ...(this.#grown.size > 0 && { grown: this.#grown.toJson() }),
    };
  }

  /** Everything before this time is done, in milliseconds since the epoch. */
  get doneUntil(): number {
    return this.#floor.time;
  }

  isDone(object: Listed): boolean {
    if (!isAfter(object, this.#floor)) return true;
    const hash = hashOf(object);
    const time = this.#seen.get(hash);
    // The writer stored the same content under the same key again: a repeat.
    if (time !== undefined && object.time > time) this.#seen.set(hash, object.time);
    return time !== undefined;
  }

  /** Returns how many items of an object were already delivered; 0 if its content has changed. */
  itemsOf({ key, etag, time }: Listed): number {
    const current = this.#current;
    return current?.key === key && current.etag === etag && current.time === time ? current.items : 0;
  }

  setCurrent({ key, etag, time }: Listed, items: number): void {
    this.#current = { key, etag, time, items };
  }

  /** Returns how far an object that grows was read; `undefined` if it is new, or has shrunk. */
  grownTo(object: Listed): GrowthPosition | undefined {
    const position = this.#grown.get(object);
    return position && position.offset <= object.size ? position : undefined;
  }

  setGrown(object: Listed, position: GrowthPosition): void {
    this.#grown.set(object, position);
  }

  /**
   * Marks an object as done.
   * @param next the following object; all before it are done
   * @param fullListingAt when the last full listing started, in the storage's time
   */
  finish(object: Listed, next: Listed | undefined, fullListingAt: number): void {
    this.#current = undefined;
    this.#seen.set(hashOf(object), object.time);
    if (next) this.#raise(Math.min(next.time, fullListingAt - OVERLAP_MS));
    if (this.#seen.size > this.#limit) {
      this.#forget(object, next);
      // A waiting object may keep the floor from rising: raise the limit instead.
      this.#limit = Math.max(MAX_SEEN, this.#seen.size + MAX_SEEN / 10);
    }
  }

  /** Marks everything listed at this time as done. */
  completeListing(at: number): void {
    this.#current = undefined;
    this.#raise(at - OVERLAP_MS);
  }

  #raise(time: number): void {
    if (time <= this.#floor.time) return;
    this.#floor = { time, key: '' };
    for (const [hash, seen] of this.#seen) if (seen < time) this.#seen.delete(hash);
  }

  /** Forgets the older half, but never raises the floor past the next object. */
  #forget(last: Listed, next: Listed | undefined): void {
    const times = [...this.#seen.values()].sort((a, b) => a - b);
    const middle = (times[Math.floor(times.length / 2)] ?? 0) + 1;
    this.#raise(Math.min(middle, next?.time ?? last.time + 1));
    // Thousands of objects may share a timestamp, for example after a folder was copied. Then raise
    // the floor by key.
    if (this.#seen.size <= MAX_SEEN || next?.time !== last.time || next.key <= last.key) return;
    this.#floor = { time: last.time, key: last.key };
    for (const [hash, seen] of this.#seen) if (seen === last.time) this.#seen.delete(hash);
  }
}

export const isAfter = (object: Mark, mark: Mark): boolean =>
  object.time > mark.time || (object.time === mark.time && object.key > mark.key);

function markOf(value: JsonValue | undefined): Mark | undefined {
  if (!isRecord(value)) return undefined;
  const { time, key } = value;
  return typeof time === 'number' && typeof key === 'string' ? { time, key } : undefined;
}
