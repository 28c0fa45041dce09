import { open, type FileHandle } from 'node:fs/promises';

/**
 * A file that is open while it is used, and a while longer. Thousands of streams rest most of the time, and a process may
 * only have so many files open.
 */
export class RestingFile {
  #handle: Promise<FileHandle> | undefined;
  #users = 0;
  #used = false;

  /**
   * @param flags for opening it, again and again: never such that they empty it
   * @param among whoever closes what rests
   * @param rested told when it was closed
   */
  constructor(
    readonly path: string,
    private readonly flags: string | number,
    private readonly among: OpenFiles,
    private readonly rested: () => void = () => undefined,
  ) {}

  /** Gives an open file; it stays open until `work` is done. */
  async use<T>(work: (handle: FileHandle) => Promise<T>): Promise<T> {
    this.#users += 1;
    this.#used = true;
    try {
      return await work(await this.#open());
    } finally {
      this.#users -= 1;
    }
  }

  /** Nobody uses it at this moment. */
  get idle(): boolean {
    return this.#users === 0;
  }

  /** Closes it, if it was not used since the last time. @param atOnce also if it was, but not while it is */
  async rest(atOnce = false): Promise<void> {
    if (!this.idle || (this.#used && !atOnce)) {
      this.#used = false;
      return;
    }
    await this.close();
    this.rested();
  }

  /** Closes it. Who uses it later opens it again. @param before to be done with the file if it is open */
  async close(before?: (handle: FileHandle) => Promise<void>): Promise<void> {
    const opening = this.#handle;
    this.#handle = undefined;
    this.among.delete(this);
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
    const opening = open(this.path, this.flags, 0o600);
    this.#handle = opening;
    this.among.add(this);
    opening.catch(() => {
      if (this.#handle === opening) this.#handle = undefined;
      this.among.delete(this);
    });
    return opening;
  }
}

/** Milliseconds between two looks; a file that was not used in between is closed. */
const LOOK = 5_000;
/** Systems give a process a thousand files and more. */
const MOST = 800;

/** The files that are open now. */
export class OpenFiles {
  readonly #files = new Set<RestingFile>();
  #timer: NodeJS.Timeout | undefined;

  /** @param most above so many, one that nobody uses is closed for each that is opened */
  constructor(private readonly most = MOST) {}

  add(file: RestingFile): void {
    if (this.#files.size >= this.most) this.#makeRoom();
    this.#files.add(file);
    this.#timer ??= setInterval(() => void this.rest(), LOOK).unref();
  }

  /** The one that was opened first is as good as any. */
  #makeRoom(): void {
    for (const file of this.#files) {
      if (!file.idle) continue;
      file.rest(true).catch(() => undefined);
      return;
    }
  }

  delete(file: RestingFile): void {
    this.#files.delete(file);
    if (this.#files.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  get size(): number {
    return this.#files.size;
  }

  /** Closes those that were not used since the last time. */
  async rest(): Promise<void> {
    // What can't be closed now is closed later, or with the process.
    for (const file of this.#files) await file.rest().catch(() => undefined);
  }
}
