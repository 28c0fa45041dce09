import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isErrno } from '../../files/is-errno.js';

/** Milliseconds for which a reading of the free space is used. */
const READING_MS = 1_000;
/** Bytes below which the disk counts as full, whatever the minimum: a few small batches. */
const FLOOR_BYTES = 64 * 1024;
/** Milliseconds between two checks while a publisher waits for space. */
const POLL_MS = 200;

/** System errors of a full disk or quota. */
const NO_SPACE: readonly string[] = ['ENOSPC', 'EDQUOT'];

/** State of the disk under the buffers. */
export interface DiskState {
  /**
   * - `low`: less than the minimum is free, or a write failed because the disk was full; new
   *   records are rejected
   * - `failing`: the last write of a stream failed for another reason
   */
  status: 'ok' | 'low' | 'failing';
  /** Absent if the system does not tell. */
  freeBytes?: number;
  minFreeBytes: number;
  /** System error code of the last failed write. */
  code?: string;
}

/** Watches the free space of the file system that holds the buffers. */
export class FreeSpace {
  readonly #folder: string;
  readonly #minFreeBytes: number;
  readonly #now: () => number;
  readonly #onLow: () => void;
  #freeBytes: number | undefined;
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;
  #low = false;
  /** When a write failed for lack of space. */
  #fullAt = -Infinity;
  /** Streams whose last write failed, with the system error code. */
  readonly #failing = new Map<string, string>();

  /**
   * @param minFreeBytes new records are rejected while less is free; 0 uses the whole disk
   * @param onLow called with each reading that is too low, to free what is not needed
   */
  constructor(folder: string, minFreeBytes: number, onLow: () => void = () => undefined) {
    this.#onLow = onLow;
    this.#folder = folder;
    this.#minFreeBytes = minFreeBytes;
    this.#now = () => performance.now();
  }

  get low(): boolean {
    return this.#low;
  }

  /** Returns whether new records may be stored; waits for space for at most `waitMs`. */
  admits(waitMs: number, signal?: AbortSignal): boolean | Promise<boolean> {
    if (this.#now() - this.#readAt < READING_MS && !this.#low) return true;
    return this.#admitsLater(waitMs, signal);
  }

  /** Counts bytes that were stored since the last reading. */
  stored(stream: string, bytes: number): void {
    if (this.#failing.size > 0) this.#failing.delete(stream);
    if (this.#freeBytes === undefined) return;
    this.#freeBytes -= bytes;
    if (this.#freeBytes < this.#minFreeBytes) this.#readAt = -Infinity;
  }

  failed(stream: string, error: unknown): void {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    this.#failing.set(stream, code);
    if (!NO_SPACE.includes(code)) return;
    this.#fullAt = this.#now();
    this.#low = true;
  }

  /** The stream was removed. */
  forget(stream: string): void {
    this.#failing.delete(stream);
  }

  async state(): Promise<DiskState> {
    await this.#read();
    const [code] = this.#failing.values();
    return {
      status: this.#low ? 'low' : code === undefined ? 'ok' : 'failing',
      minFreeBytes: this.#minFreeBytes,
      ...(this.#freeBytes !== undefined && { freeBytes: Math.max(0, this.#freeBytes) }),
      ...(code !== undefined && { code }),
    };
  }

  async #admitsLater(waitMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    const end = this.#now() + waitMs;
    for (;;) {
      if (this.#now() - this.#readAt >= READING_MS) await this.#read();
      if (!this.#low) return true;
      const left = end - this.#now();
      if (left <= 0 || signal?.aborted) return false;
      await sleep(Math.min(left, POLL_MS), undefined, signal ? { signal } : {}).catch(() => undefined);
    }
  }

  #read(): Promise<void> {
    return (this.#reading ??= this.#readNow().finally(() => (this.#reading = undefined)));
  }

  async #readNow(): Promise<void> {
    const free = await freeBytes(this.#folder);
    this.#readAt = this.#now();
    this.#freeBytes = free;
    // Some space above the minimum must be free again, so that the state does not alternate.
    const needed = Math.max(FLOOR_BYTES, this.#minFreeBytes) * (this.#low ? 9 / 8 : 1);
    // After a failed write, one write is attempted after a while, whatever the system reports.
    this.#low = (free !== undefined && free < needed) || this.#now() - this.#fullAt < READING_MS;
    if (this.#low) return this.#onLow();
    for (const [stream, code] of this.#failing) if (NO_SPACE.includes(code)) this.#failing.delete(stream);
  }
}

/** Returns the free bytes at a folder, or at its closest parent that exists. */
async function freeBytes(folder: string): Promise<number | undefined> {
  for (let path = folder; ; path = dirname(path)) {
    try {
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize;
    } catch (error) {
      // Without a reading, only failed writes show a full disk.
      if (!isErrno(error, 'ENOENT') || path === dirname(path)) return undefined;
    }
  }
}
