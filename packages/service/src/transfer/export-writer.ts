import { createHash, randomUUID, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, type Gzip } from 'node:zlib';
import { syncFolder } from '@connector-frame/engine';
import { isErrno } from '../is-errno.js';
import { dataLine, rowLine, type Header } from './format.js';
import { TransferError } from './transfer-error.js';

/** Writes the file of an export under another name until it is complete. */
export class ExportWriter {
  readonly #file: string;
  readonly #draft: string;
  readonly #handle: FileHandle;
  readonly #gzip: Gzip = createGzip();
  readonly #written: Promise<void>;
  readonly #total: Hash = createHash('sha256');
  #section: Hash = createHash('sha256');
  #sections = 0;
  #count = 0;

  private constructor(file: string, draft: string, handle: FileHandle) {
    this.#file = file;
    this.#draft = draft;
    this.#handle = handle;
    this.#written = pipeline(this.#gzip, async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await handle.appendFile(chunk);
    });
    // `#line` and `finish` await it, too.
    this.#written.catch(() => undefined);
  }

  /** @throws TransferError when the file exists, or can't be created */
  static async create(file: string): Promise<ExportWriter> {
    if (existsSync(file)) throw alreadyThere(file);
    const draft = `${file}.${randomUUID()}.partial`;
    const handle = await open(draft, 'wx', 0o600).catch((cause: unknown) => {
      if (!isErrno(cause, 'ENOENT', 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR')) throw cause;
      throw new TransferError(`${file} can't be written. Choose a folder that exists and is writable.`, { cause });
    });
    try {
      // A umask may have removed permissions of the owner.
      await handle.chmod(0o600);
    } catch (error) {
      await handle.close();
      await rm(draft, { force: true });
      throw error;
    }
    return new ExportWriter(file, draft, handle);
  }

  header(header: Header): Promise<void> {
    return this.#line(JSON.stringify(header));
  }

  begin(section: { section: 'file'; path: string; sealed_by?: string } | { section: 'table'; name: string }) {
    this.#section = createHash('sha256');
    this.#sections += 1;
    this.#count = 0;
    return this.#line(JSON.stringify(section));
  }

  data(bytes: Buffer): Promise<void> {
    this.#count += bytes.length;
    return this.#line(dataLine(bytes));
  }

  async rows(rows: readonly string[]): Promise<void> {
    this.#count += rows.length;
    for (const row of rows) await this.#line(rowLine(row));
  }

  /** Ends the section. */
  async end(kind: 'file' | 'table', digest?: string): Promise<void> {
    const sha256 = this.#section.digest('hex');
    // Lines of the end are not part of a section.
    this.#section = createHash('sha256');
    await this.#line(JSON.stringify({ end: kind, count: this.#count, sha256, digest }));
  }

  /** Completes the file: from now on it has its name, also after a power failure. */
  async finish(): Promise<{ bytes: number }> {
    const sha256 = this.#total.digest('hex');
    this.#gzip.end(`${JSON.stringify({ end: 'export', count: this.#sections, sha256 })}\n`);
    await this.#written;
    await this.#handle.sync();
    const { size } = await this.#handle.stat();
    await this.#handle.close();
    if (existsSync(this.#file)) throw alreadyThere(this.#file);
    await rename(this.#draft, this.#file);
    await syncFolder(dirname(this.#file));
    return { bytes: size };
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    this.#gzip.destroy();
    await this.#written.catch(() => undefined);
    await this.#handle.close().catch(() => undefined);
    await rm(this.#draft, { force: true });
  }

  async #line(text: string): Promise<void> {
    const line = `${text}\n`;
    this.#section.update(line);
    this.#total.update(line);
    if (this.#gzip.write(line)) return;
    // On a full disk, there is no more `drain`.
    await Promise.race([once(this.#gzip, 'drain').catch(() => undefined), this.#written]);
  }
}

/** Error for a file that an export would replace. */
export const alreadyThere = (file: string): TransferError =>
  new TransferError(`${file} exists. Choose another name, or remove it.`);

/** Returns an error that names what a full disk has no space for; others unchanged. */
export function explainDisk(error: unknown, path: string): unknown {
  return isErrno(error, 'ENOSPC', 'EDQUOT')
    ? new TransferError(`There is not enough space for ${path}. Nothing was kept of it.`, { cause: error })
    : error;
}
