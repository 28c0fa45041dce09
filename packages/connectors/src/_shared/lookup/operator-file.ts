import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConnectorError, isErrno } from '@connector-frame/engine/connector-api';
import { invalidLookup, type FileContext } from './settings.js';

/** Milliseconds between two looks at whether a file has changed. */
const CHECK_MS = 30_000;

export interface OperatorFileOptions<T> extends FileContext {
  /** Without a folder. */
  name: string;
  /** Maximum size in bytes. */
  maxBytes: number;
  /** Distinguishes contents that are read differently from one file. */
  reading: string;
  /** @throws {ConnectorError} */
  read(path: string): Promise<T>;
}

/** A file on disk, as it was when its content was read. */
interface Version {
  path: string;
  stamp: string;
}

interface Loaded<T> extends Version {
  content: T;
  checkedAt: number;
}

/** Contents in use, by path and way of reading: pipelines with the same file share it. */
const shared = new Map<string, { users: number; content: Promise<unknown> }>();

/** A file of the operator that lookups read. Reads it again when it has changed. */
export class OperatorFile<T> {
  readonly #options: OperatorFileOptions<T>;
  #loaded: Loaded<T> | undefined;
  #loading: Promise<T> | undefined;

  /** @throws {ConnectorError} `not_enabled` or `invalid_config` */
  constructor(options: OperatorFileOptions<T>) {
    if (!options.lookupFolders) {
      const message = 'Files for lookups are not enabled on this service. Ask your operator to set LOOKUP_DIR.';
      throw new ConnectorError('not_enabled', message, 'permanent');
    }
    if (!/^\w[\w.-]*$/.test(options.name)) throw invalidLookup('The name of the file is not valid.');
    this.#options = options;
  }

  /**
   * Returns the content, which is read on the first call and after a change.
   * @throws {ConnectorError}
   */
  async content(): Promise<T> {
    const { clock } = this.#options;
    const age = this.#loaded ? clock.now() - this.#loaded.checkedAt : Infinity;
    if (this.#loaded && age >= 0 && age < CHECK_MS) return this.#loaded.content;
    return (this.#loading ??= this.#load().finally(() => (this.#loading = undefined)));
  }

  /** Releases the content, unless others use it. */
  close(): void {
    const before = this.#loaded;
    this.#loaded = undefined;
    if (before) this.#release(before);
    // A run can end while the file is read.
    void this.#loading?.then(
      () => this.close(),
      () => undefined,
    );
  }

  async #load(): Promise<T> {
    const { clock, maxBytes } = this.#options;
    const { size, ...version } = await this.#find();
    const before = this.#loaded;
    if (before && before.path === version.path && before.stamp === version.stamp) {
      before.checkedAt = clock.now();
      return before.content;
    }
    if (size > maxBytes) throw invalidLookup(`The file is larger than ${maxBytes / 1024 / 1024} MiB.`);
    const content = await this.#acquire(version);
    this.#loaded = { ...version, content, checkedAt: clock.now() };
    if (before) this.#release(before);
    return content;
  }

  async #find(): Promise<Version & { size: number }> {
    const { name, lookupFolders = [] } = this.#options;
    for (const folder of lookupFolders) {
      const path = join(folder, name);
      try {
        const found = await stat(path);
        if (!found.isFile()) continue;
        const { mtimeMs, size, ino } = found;
        return { path, stamp: `${mtimeMs} ${size} ${ino}`, size };
      } catch (error) {
        if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) continue;
        throw new ConnectorError('file_unreadable', `The file ${name} can't be read.`, 'retry');
      }
    }
    const message = `Your operator has no file ${name} for lookups. Ask for its name, or for the file.`;
    throw new ConnectorError('not_found', message, 'permanent');
  }

  #keyOf({ path, stamp }: Version): string {
    return JSON.stringify([path, stamp, this.#options.reading]);
  }

  async #acquire(version: Version): Promise<T> {
    const key = this.#keyOf(version);
    const entry = shared.get(key) ?? { users: 0, content: this.#options.read(version.path) };
    shared.set(key, entry);
    entry.users += 1;
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the key names the way of reading
      return (await entry.content) as T;
    } catch (error) {
      this.#release(version);
      if (error instanceof ConnectorError) throw error;
      throw new ConnectorError('file_unreadable', `The file ${this.#options.name} can't be read.`, 'retry');
    }
  }

  #release(version: Version): void {
    const key = this.#keyOf(version);
    const entry = shared.get(key);
    if (!entry) return;
    entry.users -= 1;
    if (entry.users === 0) shared.delete(key);
  }
}
