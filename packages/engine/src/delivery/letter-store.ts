import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder } from '../files/durable.js';
import { isErrno } from '../files/is-errno.js';
import { LineFile } from '../files/line-file.js';
import type { LetterStats, NodeLetters } from './letter-storage.js';
import {
  decode,
  encode,
  linesOf,
  readChange,
  type Change,
  type Found,
  type NewLetter,
  type StoredLetter,
} from './letter-lines.js';

/** Bounds of the letters of one node. */
export interface LetterBounds {
  maxBytes: number;
  maxCount: number;
}

/** A file of letters, and the file of their changes. */
interface Segment {
  /** Sequence of the first letter; the name of the files. */
  first: number;
  last: number;
  /** Bytes of its letters, without those that are gone. */
  bytes: number;
  /** Bytes of the file of letters. */
  size: number;
  count: number;
  replaying: number;
  letters: LineFile;
  changes: LineFile;
}

/** A segment is at most this part of all letters of a node. */
const SEGMENTS = 16;
/** Archives nothing: a segment is closed by its store. */
const never = (): Promise<void> => Promise.resolve();

/**
 * Letters of one node, in append-only segment files: `<first>.ndjson` with one letter per line, and
 * `<first>.changes` with one change per line (`-<sequence>`: gone; `r<sequence>`: to be redelivered;
 * `b<sequence> <json>`: refused again). A segment of which half is gone is compacted; one that is
 * empty is deleted. Calls that write must not overlap.
 */
export class LetterStore implements NodeLetters {
  readonly nodeId: string;
  readonly #folder: string;
  readonly #bounds: LetterBounds;
  readonly #now: () => number;
  readonly #segments: Segment[] = [];
  #last = 0;

  private constructor(folder: string, nodeId: string, bounds: LetterBounds, now: () => number) {
    this.#folder = folder;
    this.nodeId = nodeId;
    this.#bounds = bounds;
    this.#now = now;
  }

  static async open(folder: string, nodeId: string, bounds: LetterBounds, now: () => number): Promise<LetterStore> {
    const store = new LetterStore(folder, nodeId, bounds, now);
    const names = await readdir(folder).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    });
    for (const name of names.toSorted((a, b) => (a < b ? -1 : 1))) {
      const [, first] = /^(\d{16})\.ndjson$/.exec(name) ?? [];
      if (first === undefined) continue;
      const segment = store.#segment(Number(first));
      const letters = await store.#read(segment);
      segment.last = Math.max(segment.first, ...letters.map(({ sequence }) => sequence));
      store.#segments.push(segment);
      store.#last = segment.last;
      store.#recount(segment, letters);
      ({ size: segment.size } = await stat(join(folder, name)));
    }
    const firsts = new Set(store.#segments.map(({ first }) => nameOf(first)));
    // Of a segment that a crash left half deleted.
    for (const name of names)
      if (name.endsWith('.changes') && !firsts.has(name.slice(0, -8))) await rm(join(folder, name), { force: true });
    return store;
  }

  get count(): number {
    return this.#segments.reduce((sum, { count }) => sum + count, 0);
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  stats(): Promise<LetterStats> {
    return Promise.resolve({ count: this.count, bytes: this.bytes });
  }

  hasRoomFor(letters: readonly NewLetter[]): Promise<boolean> {
    return Promise.resolve(hasRoomFor(letters, { count: this.count, bytes: this.bytes }, this.#bounds));
  }

  async add(letters: readonly NewLetter[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (let from = 0; from < letters.length;) {
      let segment = this.#segments.at(-1);
      // Ids are not reused after everything was deleted and the service restarted.
      const next = Math.max(this.#last + 1, this.#now() * 1_000);
      if (!segment || this.#isFull(segment.size, segment.count)) {
        segment = this.#segment(next);
        this.#segments.push(segment);
      }
      const lines: string[] = [];
      let bytes = 0;
      for (; from < letters.length && !this.#isFull(segment.size + bytes, segment.count + lines.length); from += 1) {
        const letter = letters[from];
        if (!letter) continue;
        const line = encode(next + lines.length, letter, this.#now());
        lines.push(line);
        bytes += Buffer.byteLength(line) + 1;
      }
      await segment.letters.append(lines);
      segment.last = this.#last = next + lines.length - 1;
      segment.count += lines.length;
      segment.bytes += bytes;
      segment.size += bytes;
    }
  }

  /** Returns whether a segment of this size is full. */
  #isFull(bytes: number, count: number): boolean {
    return bytes > 0 && (bytes >= this.#bounds.maxBytes / SEGMENTS || count >= this.#bounds.maxCount / SEGMENTS);
  }

  /** Deletes the oldest segments until the rest is within the bounds. Returns the letters lost. */
  async dropOldest(): Promise<number> {
    let dropped = 0;
    while (this.#segments.length > 1 && (this.count > this.#bounds.maxCount || this.bytes > this.#bounds.maxBytes)) {
      const [oldest] = this.#segments;
      if (!oldest) break;
      dropped += oldest.count;
      await this.#deleteSegment(oldest);
    }
    return dropped;
  }

  /** Returns letters after a sequence, oldest first. */
  async list(after: number, limit: number): Promise<StoredLetter[]> {
    const found: StoredLetter[] = [];
    for (const segment of this.#segments.slice()) {
      if (found.length >= limit) break;
      if (segment.last <= after || segment.count === 0) continue;
      for (const { sequence, letter } of await this.#read(segment))
        if (sequence > after && found.length < limit) found.push(letter);
    }
    return found;
  }

  async replaying(limit: number): Promise<StoredLetter[]> {
    const found: StoredLetter[] = [];
    for (const segment of this.#segments.slice()) {
      if (segment.replaying === 0 || found.length >= limit) continue;
      for (const { letter } of await this.#read(segment))
        if (letter.isReplaying && found.length < limit) found.push(letter);
    }
    return found;
  }

  delete(sequences: readonly number[]): Promise<number> {
    return this.#change(
      sequences,
      () => true,
      (sequence) => `-${sequence}`,
    );
  }

  /** @param sequences absent: all letters */
  replay(sequences?: readonly number[]): Promise<number> {
    return this.#change(
      sequences,
      ({ isReplaying }) => !isReplaying,
      (sequence) => `r${sequence}`,
    );
  }

  /** @param reasons by sequence */
  async returnReplayed(reasons: ReadonlyMap<number, string>): Promise<void> {
    await this.#change(
      [...reasons.keys()],
      ({ isReplaying }) => isReplaying,
      (sequence, { replays }) => {
        const change = { reason: reasons.get(sequence) ?? '', replays: replays + 1 };
        return `b${sequence} ${JSON.stringify(change)}`;
      },
    );
  }

  async purge(): Promise<number> {
    const { count } = this;
    for (const segment of this.#segments.slice()) await this.#deleteSegment(segment);
    return count;
  }

  async #change(
    sequences: readonly number[] | undefined,
    isMeant: (letter: StoredLetter) => boolean,
    lineOf: (sequence: number, letter: StoredLetter) => string,
  ): Promise<number> {
    const wanted = sequences && new Set(sequences);
    let count = 0;
    for (const segment of this.#segments.slice()) {
      if (wanted && !sequences.some((each) => each >= segment.first && each <= segment.last)) continue;
      const lines: string[] = [];
      for (const { sequence, letter } of await this.#read(segment))
        if ((!wanted || wanted.has(sequence)) && isMeant(letter)) lines.push(lineOf(sequence, letter));
      if (lines.length === 0) continue;
      await segment.changes.append(lines);
      count += lines.length;
      const left = await this.#read(segment);
      this.#recount(segment, left);
      if (left.length === 0) await this.#deleteSegment(segment);
      else if (segment.bytes < segment.size / 2 && segment !== this.#segments.at(-1))
        await this.#compact(segment, left);
    }
    return count;
  }

  /** Rewrites a segment without the letters that are gone. */
  async #compact(segment: Segment, letters: readonly Found[]): Promise<void> {
    const lines = letters.map(({ sequence, letter }) => encode(sequence, letter, letter.at));
    await replaceFile(join(this.#folder, `${nameOf(segment.first)}.ndjson`), `${lines.join('\n')}\n`);
    await syncFolder(this.#folder);
    const fresh = this.#segment(segment.first);
    segment.letters = fresh.letters;
    this.#recount(segment, letters);
    if (segment.replaying === 0) {
      await rm(join(this.#folder, `${nameOf(segment.first)}.changes`), { force: true });
      segment.changes = fresh.changes;
    }
    segment.size = segment.bytes;
  }

  async #deleteSegment(segment: Segment): Promise<void> {
    const path = join(this.#folder, nameOf(segment.first));
    // In this order: without its changes, letters that are gone would be back after a crash.
    await rm(`${path}.ndjson`, { force: true });
    await syncFolder(this.#folder);
    await rm(`${path}.changes`, { force: true });
    this.#segments.splice(this.#segments.indexOf(segment), 1);
  }

  #segment(first: number): Segment {
    const path = join(this.#folder, nameOf(first));
    return {
      first,
      last: first - 1,
      bytes: 0,
      size: 0,
      count: 0,
      replaying: 0,
      letters: new LineFile(`${path}.ndjson`, Infinity, never),
      changes: new LineFile(`${path}.changes`, Infinity, never),
    };
  }

  #recount(segment: Segment, letters: readonly Found[]): void {
    segment.count = letters.length;
    segment.replaying = letters.filter(({ letter }) => letter.isReplaying).length;
    segment.bytes = letters.reduce((sum, { size }) => sum + size, 0);
    segment.size = Math.max(segment.size, segment.bytes);
  }

  /** Reads the letters of a segment that are not gone. Skips lines that a crash left incomplete. */
  async #read({ first }: Segment): Promise<Found[]> {
    const path = join(this.#folder, nameOf(first));
    const changes = new Map<number, Change>();
    for (const line of await linesOf(`${path}.changes`)) readChange(line, changes);
    return (await linesOf(`${path}.ndjson`)).flatMap((line) => decode(line, this.nodeId, changes) ?? []);
  }
}

/** Returns whether letters fit beside the stored ones. They always fit at a node without letters. */
export function hasRoomFor(
  letters: readonly NewLetter[],
  { count, bytes }: LetterStats,
  bounds: LetterBounds,
): boolean {
  if (count === 0) return true;
  const more = letters.reduce((sum, letter) => sum + Buffer.byteLength(letter.line) + 200, 0);
  return count + letters.length <= bounds.maxCount && bytes + more <= bounds.maxBytes;
}

const nameOf = (first: number): string => String(first).padStart(16, '0');
