import { createHash } from 'node:crypto';
import { isRecord, type JsonValue } from '../../records/record.js';
import type { Listed } from './list-objects.js';

/** Objects may show up so long after the time they carry: that of a large upload is when it began. */
export const OVERLAP_MS = 3_600_000;
/** Objects that are remembered one by one. */
const MAX_SEEN = 10_000;
/** Of a hash, as text: 48 bits. */
const HASH = 8;

interface Mark {
  time: number;
  key: string;
}

/** The object that is being read. */
interface Current extends Mark {
  etag: string;
  /** Taken from it already, with what was unreadable. */
  items: number;
}

/**
 * Which objects are done, by the time they carry and then by key, so that names need no order. Up to `floor` all are;
 * behind it those that are remembered. The floor keeps an hour behind the last time everything was listed, for what comes
 * late; when more than ten thousand objects fall into that hour it follows closer.
 */
export class Progress {
  #floor: Mark;
  /** Times by hash of key and content. */
  readonly #seen = new Map<string, number>();
  #limit = MAX_SEEN;
  #current: Current | undefined;

  private constructor(floor: Mark) {
    this.#floor = floor;
  }

  /** Everything from a time on. */
  static from(time: number): Progress {
    return new Progress({ time, key: '' });
  }

  /** `undefined`: this is no cursor of ours. */
  static read(saved: JsonValue | undefined): Progress | undefined {
    if (!isRecord(saved)) return undefined;
    const floor = markOf(saved['floor']);
    if (!floor) return undefined;
    const progress = new Progress(floor);
    const groups = Array.isArray(saved['seen']) ? saved['seen'] : [];
    for (const group of groups) {
      if (!Array.isArray(group) || typeof group[0] !== 'number' || typeof group[1] !== 'string') continue;
      for (let at = 0; at < group[1].length; at += HASH) progress.#seen.set(group[1].slice(at, at + HASH), group[0]);
    }
    const { current } = saved;
    const mark = markOf(current);
    if (mark && isRecord(current) && typeof current['etag'] === 'string' && typeof current['items'] === 'number')
      progress.#current = { ...mark, etag: current['etag'], items: current['items'] };
    return progress;
  }

  /** As a cursor holds it. */
  toJson(): JsonValue {
    const groups = new Map<number, string>();
    for (const [hash, time] of this.#seen) groups.set(time, (groups.get(time) ?? '') + hash);
    return {
      floor: { ...this.#floor },
      seen: [...groups].sort(([a], [b]) => a - b),
      ...(this.#current && { current: { ...this.#current } }),
    };
  }

  /** Everything before this time is done. */
  get doneUntil(): number {
    return this.#floor.time;
  }

  isDone(object: Listed): boolean {
    if (!isBehind(object, this.#floor)) return true;
    const hash = hashOf(object);
    const time = this.#seen.get(hash);
    // The same content written once more under the same name: a repeat of whoever writes there.
    if (time !== undefined && object.time > time) this.#seen.set(hash, object.time);
    return time !== undefined;
  }

  /** Items of an object that were delivered before: none of any other content. */
  itemsOf({ key, etag, time }: Listed): number {
    const current = this.#current;
    return current?.key === key && current.etag === etag && current.time === time ? current.items : 0;
  }

  reading({ key, etag, time }: Listed, items: number): void {
    this.#current = { key, etag, time, items };
  }

  /**
   * An object is done with. `next`: the following one; all before it are done. `sweptAt`: when everything was last listed,
   * in the storage's time.
   */
  finish(object: Listed, next: Listed | undefined, sweptAt: number): void {
    this.#current = undefined;
    this.#seen.set(hashOf(object), object.time);
    if (next) this.#raise(Math.min(next.time, sweptAt - OVERLAP_MS));
    if (this.#seen.size > this.#limit) {
      this.#forget(object, next);
      // Something that waits may hold it up.
      this.#limit = Math.max(MAX_SEEN, this.#seen.size + MAX_SEEN / 10);
    }
  }

  /** Everything that was listed at this time is done. */
  swept(at: number): void {
    this.#current = undefined;
    this.#raise(at - OVERLAP_MS);
  }

  #raise(time: number): void {
    if (time <= this.#floor.time) return;
    this.#floor = { time, key: '' };
    for (const [hash, seen] of this.#seen) if (seen < time) this.#seen.delete(hash);
  }

  /** Half of it, the oldest, as far as nothing before the next object is passed over. */
  #forget(last: Listed, next: Listed | undefined): void {
    const times = [...this.#seen.values()].sort((a, b) => a - b);
    const middle = (times[Math.floor(times.length / 2)] ?? 0) + 1;
    this.#raise(Math.min(middle, next?.time ?? last.time + 1));
    // Thousands with one time, as a copy of a folder makes them.
    if (this.#seen.size <= MAX_SEEN || next?.time !== last.time || next.key <= last.key) return;
    this.#floor = { time: last.time, key: last.key };
    for (const [hash, seen] of this.#seen) if (seen === last.time) this.#seen.delete(hash);
  }
}

export const isBehind = (object: Mark, mark: Mark): boolean =>
  object.time > mark.time || (object.time === mark.time && object.key > mark.key);

const hashOf = ({ key, etag }: Listed): string =>
  createHash('sha256').update(`${etag}\n${key}`).digest('base64url').slice(0, HASH);

function markOf(value: JsonValue | undefined): Mark | undefined {
  if (!isRecord(value)) return undefined;
  const { time, key } = value;
  return typeof time === 'number' && typeof key === 'string' ? { time, key } : undefined;
}
