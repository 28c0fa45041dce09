import { FileHandlePool, IdleFile } from '../../files/idle-file.js';
import { bodyFits, decodeHead, HEAD_BYTES, MAGIC, type FrameHead } from './frame.js';

export type ReadFrame =
  | { found: 'frame'; head: FrameHead; body: Buffer; end: number }
  /** No more data before the limit. */
  | { found: 'end' }
  /** The file ends within a frame, as after a crash during a write. */
  | { found: 'torn' }
  /**
   * Bytes that were written completely and have changed since. `head` is the head of the frame if
   * it is intact.
   */
  | { found: 'damage'; head?: FrameHead };

const WINDOW_BYTES = 128 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Reads the frames of one segment file through a read-ahead window, so that small frames do not
 * cost a system call each.
 */
export class FrameReader {
  #window = NOTHING;
  #windowAt = 0;
  readonly #file: IdleFile;

  /** @param pool pool that closes the file while it is idle */
  constructor(path: string, pool = new FileHandlePool()) {
    this.#file = new IdleFile(path, 'r', pool, () => (this.#window = NOTHING));
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /**
   * Reads the frame at `offset`. Never reads bytes from `limit` on: they may be partially written.
   */
  async frame(offset: number, limit: number): Promise<ReadFrame> {
    if (offset >= limit) return { found: 'end' };
    const bytes = await this.#bytes(offset, HEAD_BYTES, limit);
    const head = decodeHead(bytes);
    if (!head) return { found: bytes.length < HEAD_BYTES || (await this.#zeros(offset, limit)) ? 'torn' : 'damage' };
    const start = offset + HEAD_BYTES;
    const end = start + head.bodyLength;
    if (end > limit) return { found: 'torn' };
    const body = await this.#bytes(start, head.bodyLength, limit);
    return bodyFits(head, body) ? { found: 'frame', head, body, end } : { found: 'damage', head };
  }

  /**
   * Returns the offset of the first valid frame at or after `offset`, or `undefined` if there is
   * none before `limit`.
   */
  async next(offset: number, limit: number): Promise<number | undefined> {
    for (let at = offset; at < limit;) {
      const bytes = await this.#bytes(at, WINDOW_BYTES, limit);
      const hit = bytes.indexOf(MAGIC);
      if (hit >= 0) {
        at += hit;
        if ((await this.frame(at, limit)).found === 'frame') return at;
        at += 1;
      } else {
        // The magic bytes may span two windows.
        at += Math.max(1, bytes.length - MAGIC.length + 1);
      }
    }
    return undefined;
  }

  /**
   * Checks for a zeroed tail: if a file was extended before its data was written, a power failure
   * leaves zeros there.
   */
  async #zeros(offset: number, limit: number): Promise<boolean> {
    for (let at = offset; at < limit; at += WINDOW_BYTES) {
      const bytes = await this.#bytes(at, WINDOW_BYTES, limit);
      if (bytes.some((byte) => byte !== 0)) return false;
    }
    return true;
  }

  async #bytes(offset: number, size: number, limit: number): Promise<Buffer> {
    const length = Math.min(size, limit - offset);
    const from = offset - this.#windowAt;
    if (from >= 0 && from + length <= this.#window.length) return this.#window.subarray(from, from + length);
    const window = Buffer.allocUnsafe(Math.min(Math.max(length, WINDOW_BYTES), limit - offset));
    const filled = await this.#file.use(async (handle) => {
      let done = 0;
      while (done < window.length) {
        const { bytesRead } = await handle.read(window, done, window.length - done, offset + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return done;
    });
    this.#window = window.subarray(0, filled);
    this.#windowAt = offset;
    return this.#window.subarray(0, length);
  }
}
