import { open, type FileHandle } from 'node:fs/promises';

/**
 * A file that opens on demand and closes after it has been idle for a while. Thousands of streams
 * are idle most of the time, and the number of open files per process is limited.
 */
export class IdleFile {
  readonly path: string;
  readonly #flags: string | number;
  readonly #pool: FileHandlePool;
  readonly #onClosed: () => void;
  #handle: Promise<FileHandle> | undefined;
  #users = 0;
  #used = false;

  /**
   * @param flags for opening and reopening the file; must not truncate it
   * @param pool pool that closes idle files
   * @param onClosed called after the file was closed for being idle
   */
  constructor(path: string, flags: string | number, pool: FileHandlePool, onClosed: () => void = () => undefined) {
    this.path = path;
    this.#flags = flags;
    this.#pool = pool;
    this.#onClosed = onClosed;
  }

  /** Calls `work` with an open file handle and keeps the file open until it is done. */
  async use<T>(work: (handle: FileHandle) => Promise<T>): Promise<T> {
    this.#users += 1;
    this.#used = true;
    try {
      return await work(await this.#open());
    } finally {
      this.#users -= 1;
    }
  }

  /** Whether no `use` call is in progress. */
  get idle(): boolean {
    return this.#users === 0;
  }

  /**
   * Closes the file if it was not used since the last call.
   * @param force closes it even if it was used since then, but not while it is in use
   */
  async closeIfIdle(force = false): Promise<void> {
    if (!this.idle || (this.#used && !force)) {
      this.#used = false;
      return;
    }
    await this.close();
    this.#onClosed();
  }

  /**
   * Closes the file. A later `use` reopens it.
   * @param before runs before closing if the file is open
   */
  async close(before?: (handle: FileHandle) => Promise<void>): Promise<void> {
    const opening = this.#handle;
    this.#handle = undefined;
    this.#pool.delete(this);
    const handle = await opening;
    if (!handle) return;
    try {
      await before?.(handle);
    } finally {
      await handle.close();
    }
  }

  #open(): Promise<FileHandle> {
    if (this.#handle) return this.#handle;
    const opening = open(this.path, this.#flags, 0o600);
    this.#handle = opening;
    this.#pool.add(this);
    opening.catch(() => {
      if (this.#handle === opening) this.#handle = undefined;
      this.#pool.delete(this);
    });
    return opening;
  }
}

/** Milliseconds between two checks; a file that was not used in between is closed. */
const CHECK_INTERVAL_MS = 5_000;
/** Operating systems allow a process a thousand open files or more. */
const MAX_OPEN_FILES = 800;

/** Pool of the open files of a process. */
export class FileHandlePool {
  readonly #maxOpen: number;
  readonly #files = new Set<IdleFile>();
  #timer: NodeJS.Timeout | undefined;

  /** @param maxOpen limit above which an idle file is closed for each one opened */
  constructor(maxOpen = MAX_OPEN_FILES) {
    this.#maxOpen = maxOpen;
  }

  add(file: IdleFile): void {
    if (this.#files.size >= this.#maxOpen) this.#closeOldestIdle();
    this.#files.add(file);
    this.#timer ??= setInterval(() => void this.closeIdle(), CHECK_INTERVAL_MS).unref();
  }

  /** Closes the idle file that was opened first. */
  #closeOldestIdle(): void {
    for (const file of this.#files) {
      if (!file.idle) continue;
      file.closeIfIdle(true).catch(() => undefined);
      return;
    }
  }

  delete(file: IdleFile): void {
    this.#files.delete(file);
    if (this.#files.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  get size(): number {
    return this.#files.size;
  }

  /** Closes the files that were not used since the last call. */
  async closeIdle(): Promise<void> {
    // If closing fails now, it is retried later or happens when the process ends.
    for (const file of this.#files) await file.closeIfIdle().catch(() => undefined);
  }
}
