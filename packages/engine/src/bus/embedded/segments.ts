import { mkdir, open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, writeAll } from '../../files/durable.js';
import { IdleFile, type FileHandlePool } from '../../files/idle-file.js';
import { decodeHead, HEAD_BYTES, idsFrame, type FrameHead } from './frame.js';
import { FrameReader } from './frame-reader.js';
import { RecentIds } from '../shared/recent-ids.js';
import { isErrno } from '../../files/is-errno.js';

/** A damaged range of a segment. */
export interface Damage {
  stream: string;
  /** File name of the segment. */
  segment: string;
  offset: number;
  bytes: number;
  /**
   * - `cut`: a torn write at the end, left by a crash and never acknowledged, was truncated
   * - `skipped`: bytes that were written completely have changed; their records are lost, reading
   *   continues after them
   * - `missing`: the file was removed by someone else; its records are lost
   */
  kind: 'cut' | 'skipped' | 'missing';
}

/** One segment file, a sequence of frames. */
export interface Segment {
  /** Sequence of its first batch, also its name. */
  readonly first: number;
  readonly path: string;
  /** Bytes and records of the stream before it. */
  readonly base: number;
  readonly recordsBefore: number;
  /** Bytes synced to disk. Only these are ever read. */
  size: number;
  /** Someone else has removed the file. */
  missing?: boolean;
}

/** The segment files of one stream, oldest first. Appends go to the last one. */
export class Segments {
  readonly #folder: string;
  readonly #stream: string;
  readonly #segmentBytes: number;
  readonly #files: FileHandlePool;
  readonly #onDamage: (damage: Damage) => void;
  readonly list: Segment[] = [];
  readonly recent = new RecentIds();
  lastSequence = 0;
  /** Records in all batches so far. */
  records = 0;
  /** `false`: the last segment ends in damage that held an unknown number of batches. */
  exact = true;
  #tail: IdleFile | undefined;
  #created = false;
  /** The last segment ends in damaged bytes; leave it as it is and append to a new one. */
  #sealed = false;

  private constructor(
    folder: string,
    stream: string,
    segmentBytes: number,
    files: FileHandlePool,
    onDamage: (damage: Damage) => void,
  ) {
    this.#folder = folder;
    this.#stream = stream;
    this.#segmentBytes = segmentBytes;
    this.#files = files;
    this.#onDamage = onDamage;
  }

  static async open(
    folder: string,
    stream: string,
    segmentBytes: number,
    files: FileHandlePool,
    onDamage: (damage: Damage) => void,
    isNew = false,
  ): Promise<Segments> {
    const segments = new Segments(folder, stream, segmentBytes, files, onDamage);
    if (isNew) return segments;
    const names = (await namesIn(folder)).filter((name) => /^\d{16}\.seg$/.test(name)).sort();
    const found: Listed[] = [];
    for (const name of names) found.push(await listed(join(folder, name), Number(name.slice(0, 16))));
    segments.list.push(...withBases(found));
    // The last segment holds the end of the stream. The one before it holds the ids that would be
    // lost in a crash between the two.
    for (const segment of segments.list.slice(-2)) await segments.#scan(segment);
    if (segments.tail?.size === 0) {
      // Left by a crash while the segment was created: it lacks the ids that every segment begins
      // with.
      await rm(segments.tail.path, { force: true });
      segments.list.pop();
    }
    segments.recent.compact();
    return segments;
  }

  get tail(): Segment | undefined {
    return this.list.at(-1);
  }

  get end(): number {
    const { tail } = this;
    return tail ? tail.base + tail.size : 0;
  }

  /** Appends frames and syncs them to disk, all or nothing. Returns where the first one begins. */
  async append(frames: readonly Buffer[]): Promise<{ segment: Segment; offset: number }> {
    const bytes = frames.length === 1 && frames[0] ? frames[0] : Buffer.concat(frames);
    if (this.#sealed || !this.tail || this.tail.size >= this.#segmentBytes) await this.#rotate();
    try {
      return await this.#write(bytes);
    } catch (error) {
      if (!isErrno(error, 'ENOENT') || !this.tail) throw error;
      this.markMissing(this.tail);
      await this.#rotate();
      return this.#write(bytes);
    }
  }

  async #write(bytes: Buffer): Promise<{ segment: Segment; offset: number }> {
    const { tail } = this;
    if (!tail) throw new Error('no segment');
    if (!this.#tail) {
      // After a failed write, truncate what it left after the last good byte.
      await truncate(tail.path, tail.size);
      this.#tail = this.#open(tail.path);
    }
    try {
      await this.#tail.use(async (handle) => {
        await writeAll(handle, bytes, tail.size);
        await handle.datasync();
      });
    } catch (error) {
      await this.#closeTail();
      // Frees the space on a full disk. If it fails, the next write truncates the file.
      await truncate(tail.path, tail.size).catch(() => undefined);
      throw error;
    }
    const offset = tail.size;
    tail.size += bytes.length;
    return { segment: tail, offset };
  }

  /** Starts a new segment, so that the last one can be deleted. */
  async renew(): Promise<void> {
    await this.#rotate();
  }

  /** Returns the segments that no consumer needs anymore; never the last one. */
  unneeded(isNeeded: (segment: Segment, end: number) => boolean): Segment[] {
    return this.list.filter((segment, index) => {
      const next = this.list[index + 1];
      return next !== undefined && !isNeeded(segment, next.first);
    });
  }

  /** Deletes segments. A file that can't be deleted is left for the next start. */
  async delete(segments: readonly Segment[]): Promise<void> {
    for (const segment of segments) {
      const index = this.list.indexOf(segment);
      if (index < 0) continue;
      this.list.splice(index, 1);
      await rm(segment.path, { force: true }).catch(() => undefined);
    }
  }

  /** Records that someone else has removed the file of a segment. */
  markMissing(segment: Segment): void {
    if (segment.missing) return;
    segment.missing = true;
    this.#damage(segment, 0, segment.size, 'missing');
    // The folder may be gone, too.
    this.#created = false;
    if (segment === this.tail) this.#sealed = true;
  }

  /**
   * Continues after a batch that is known to have been stored, if the segments end before it: the
   * last ones are missing or truncated.
   */
  continueAfter(end: { sequence: number; records: number }): void {
    if (end.sequence <= this.lastSequence) return;
    this.lastSequence = end.sequence;
    this.records = Math.max(this.records, end.records);
    this.#sealed = true;
  }

  close(): Promise<void> {
    return this.#closeTail();
  }

  async #closeTail(): Promise<void> {
    const file = this.#tail;
    this.#tail = undefined;
    // The write error is the one to report, not a failure to close.
    await file?.close().catch(() => undefined);
  }

  #open(path: string): IdleFile {
    return new IdleFile(path, 'r+', this.#files, () => this.recent.compact());
  }

  async #rotate(): Promise<void> {
    await this.#closeTail();
    await this.#createFolder();
    const first = this.lastSequence + 1;
    const path = join(this.#folder, `${String(first).padStart(16, '0')}.seg`);
    const base = this.end;
    // The time of this frame has no meaning, so the field holds the offset of the segment.
    const header = { recordsBefore: this.records, sequence: first, publishedAt: base };
    const ids = idsFrame(this.recent.toText(), header);
    const handle = await open(path, 'w', 0o600);
    try {
      await writeAll(handle, ids, 0);
      await handle.datasync();
      await syncFolder(this.#folder);
    } catch (error) {
      await handle.close();
      await rm(path, { force: true });
      throw error;
    }
    await handle.close();
    // Someone else has removed the file of the last segment before it received a batch.
    if (this.tail?.first === first) this.list.pop();
    this.list.push({ first, path, base, recordsBefore: this.records, size: ids.length });
    this.#tail = this.#open(path);
    this.#sealed = false;
  }

  /**
   * Creates the folder together with its first file: most streams of a large installation never
   * receive a record.
   */
  async #createFolder(): Promise<void> {
    if (this.#created) return;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await syncFolder(dirname(this.#folder));
    await syncFolder(dirname(dirname(this.#folder)));
    this.#created = true;
  }

  async #scan(segment: Segment): Promise<void> {
    const last = segment === this.tail;
    this.lastSequence = Math.max(this.lastSequence, segment.first - 1);
    const reader = new FrameReader(segment.path);
    try {
      for (let offset = 0; ;) {
        const read = await reader.frame(offset, segment.size);
        if (read.found === 'end') return;
        if (read.found === 'frame') {
          const { head, body, end } = read;
          offset = end;
          this.records = head.recordsBefore + head.records;
          if (head.kind === 'ids') this.recent.addText(body.toString());
          else {
            this.lastSequence = Math.max(this.lastSequence, head.sequence);
            this.recent.add(body.toString('utf8', 0, body.indexOf(10)), head.sequence);
          }
          continue;
        }
        const next = await reader.next(offset + 1, segment.size);
        if (next !== undefined) {
          offset = next;
          continue;
        }
        if (last && read.found === 'torn') await this.#cut(segment, offset);
        else if (last) this.#seal(segment, offset, read.found === 'damage' ? read.head : undefined);
        return;
      }
    } finally {
      await reader.close();
    }
  }

  async #cut(segment: Segment, offset: number): Promise<void> {
    this.#damage(segment, offset, segment.size - offset, 'cut');
    await truncate(segment.path, offset);
    segment.size = offset;
  }

  /** @param head head of the damaged frame, if that is intact */
  #seal(segment: Segment, offset: number, head: FrameHead | undefined): void {
    this.#damage(segment, offset, segment.size - offset, 'skipped');
    this.#sealed = true;
    // The sequence of the lost batch may already be in use. It held at least one record.
    this.exact &&= head !== undefined;
    this.lastSequence = head?.sequence ?? this.lastSequence + 1;
    this.records = head ? head.recordsBefore + head.records : this.records + 1;
  }

  #damage(segment: Segment, offset: number, bytes: number, kind: Damage['kind']): void {
    this.#onDamage({ stream: this.#stream, segment: segment.path.slice(-20), offset, bytes, kind });
  }
}

/** Lists a folder. A missing folder counts as empty. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

type Listed = Omit<Segment, 'base'> & { base: number | undefined };

async function listed(path: string, first: number): Promise<Listed> {
  const { size } = await stat(path);
  const head = await readHead(path);
  if (head) return { first, path, size, recordsBefore: head.recordsBefore, base: baseIn(head) };
  const frame = await firstFrame(path, size);
  return { first, path, size, recordsBefore: frame?.recordsBefore ?? 0, base: undefined };
}

/** A segment of an earlier release does not hold its offset in the stream. */
const baseIn = ({ kind, publishedAt }: FrameHead): number | undefined =>
  kind === 'ids' && publishedAt > 0 ? publishedAt : undefined;

/** Derives the offsets that are not stored from those of the other segments. */
function withBases(found: readonly Listed[]): Segment[] {
  const known = found.findIndex(({ base }) => base !== undefined);
  let base = found[known]?.base ?? 0;
  for (let index = known - 1; index >= 0; index -= 1) base -= found[index]?.size ?? 0;
  return found.map((segment) => {
    const own = { ...segment, base: segment.base ?? base };
    base = own.base + own.size;
    return own;
  });
}

/** Finds the first intact frame of a segment whose beginning is damaged. */
async function firstFrame(path: string, size: number): Promise<FrameHead | undefined> {
  const reader = new FrameReader(path);
  try {
    const at = await reader.next(1, size);
    const read = at === undefined ? undefined : await reader.frame(at, size);
    return read?.found === 'frame' ? read.head : undefined;
  } finally {
    await reader.close();
  }
}

async function readHead(path: string): Promise<FrameHead | undefined> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return decodeHead(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}
