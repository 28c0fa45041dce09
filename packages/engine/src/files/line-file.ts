import { mkdir, open, stat, truncate, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder, writeAll } from './durable.js';
import { isErrno } from './is-errno.js';

/**
 * An append-only file of lines. A line is synced to disk once `append` resolves. A partial line
 * left by a crash is truncated before the next write.
 */
export class LineFile {
  readonly path: string;
  readonly #maxBytes: number;
  readonly #archive: (path: string) => Promise<void>;
  #size: number | undefined;
  #queue: Promise<void> = Promise.resolve();

  /**
   * @param maxBytes a line that would exceed this size goes into a new file; a file has at least
   *   one line
   * @param archive moves the full file elsewhere
   */
  constructor(path: string, maxBytes: number, archive: (path: string) => Promise<void>) {
    this.path = path;
    this.#maxBytes = maxBytes;
    this.#archive = archive;
  }

  /**
   * Appends lines, given without line ends. Calls are serialized; a failed call rolls back its last
   * write.
   */
  append(lines: readonly string[]): Promise<void> {
    const call = this.#queue.then(() => this.#append(lines));
    this.#queue = call.catch(() => undefined);
    return call;
  }

  async #append(lines: readonly string[]): Promise<void> {
    let part: string[] = [];
    let bytes = 0;
    for (const line of lines) {
      const length = Buffer.byteLength(line) + 1;
      let size = (this.#size ??= await this.#truncatePartialLine());
      if (size + bytes > 0 && size + bytes + length > this.#maxBytes) {
        size = await this.#write(part, size);
        part = [];
        bytes = 0;
        await this.#archive(this.path);
        this.#size = 0;
      }
      part.push(line);
      bytes += length;
    }
    if (part.length > 0) await this.#write(part, (this.#size ??= await this.#truncatePartialLine()));
  }

  async #write(lines: readonly string[], size: number): Promise<number> {
    if (lines.length === 0) return size;
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    // Unknown until the write has succeeded.
    this.#size = undefined;
    const file = await open(this.path, size === 0 ? 'w' : 'r+', 0o600);
    try {
      await writeAll(file, bytes, size);
      await file.datasync();
    } catch (error) {
      // If this fails as well, the next call truncates the partial line.
      await file.truncate(size).catch(() => undefined);
      throw error;
    } finally {
      await file.close();
    }
    if (size === 0) await syncFolder(dirname(this.path));
    this.#size = size + bytes.length;
    return this.#size;
  }

  /** Returns the size up to the end of the last complete line; truncates anything after it. */
  async #truncatePartialLine(): Promise<number> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const size = await sizeOf(this.path);
    if (size === 0) return 0;
    const file = await open(this.path, 'r');
    try {
      const whole = await endOfLastLine(file, size);
      if (whole < size) await truncate(this.path, whole);
      return whole;
    } finally {
      await file.close();
    }
  }
}

async function endOfLastLine(file: FileHandle, size: number): Promise<number> {
  const window = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - window.length);
    const { bytesRead } = await file.read(window, 0, end - start, start);
    const index = window.lastIndexOf(10, bytesRead - 1);
    if (index >= 0) return start + index + 1;
    end = start;
  }
  return 0;
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return 0;
    throw error;
  }
}
