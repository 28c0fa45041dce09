interface Entry<T> {
  value: T;
  finished: boolean;
  before: Entry<T> | undefined;
  after: Entry<T> | undefined;
}

export interface UnacknowledgedOptions<T> {
  /**
   * Combines the value of a finished entry with that of the entry before it, which is acknowledged
   * at the same time.
   */
  merge(before: T, after: T): T;
  /**
   * Acknowledges everything up to an entry. Called once at a time; after `false` or an error, nothing
   * is acknowledged anymore.
   */
  acknowledge(value: T): Promise<boolean>;
  /** Called when acknowledging has failed. */
  onFailure(): void;
}

/**
 * Entries in the order of the source, which finish in any order. Acknowledges the longest prefix
 * that is finished. A finished entry behind an unfinished one is merged into it, so the number of
 * entries is bounded by that of unfinished ones.
 */
export class Unacknowledged<T> {
  readonly #options: UnacknowledgedOptions<T>;
  #first: Entry<T> | undefined;
  #last: Entry<T> | undefined;
  #acknowledging: Promise<void> | undefined;
  #failed = false;
  #error: unknown;

  constructor(options: UnacknowledgedOptions<T>) {
    this.#options = options;
  }

  /** Acknowledging has failed. */
  get hasFailed(): boolean {
    return this.#failed;
  }

  /** Adds an entry at the end. Returns the function to call when it is finished. */
  add(value: T): () => void {
    const entry: Entry<T> = { value, finished: false, before: this.#last, after: undefined };
    if (this.#last) this.#last.after = entry;
    else this.#first = entry;
    this.#last = entry;
    return () => this.#finish(entry);
  }

  /**
   * Resolves when all finished entries at the start are acknowledged, with whether that succeeded.
   * @throws the error of `acknowledge`
   */
  async settled(): Promise<boolean> {
    while (this.#acknowledging) await this.#acknowledging;
    if (this.#error !== undefined) throw this.#error;
    return !this.#failed;
  }

  #finish(entry: Entry<T>): void {
    entry.finished = true;
    const { before } = entry;
    if (before) {
      before.value = this.#options.merge(before.value, entry.value);
      this.#remove(entry);
    } else {
      this.#acknowledging ??= this.#run();
    }
  }

  async #run(): Promise<void> {
    // Entries that finish in the same turn are acknowledged together.
    await Promise.resolve();
    for (let first = this.#first; first?.finished && !this.#failed; first = this.#first) {
      // Removed first: an entry that finishes meanwhile must not be merged into it.
      this.#remove(first);
      try {
        this.#failed = !(await this.#options.acknowledge(first.value));
      } catch (error) {
        this.#failed = true;
        this.#error = error;
      }
    }
    // Before another turn: an entry that finishes next must start this again.
    this.#acknowledging = undefined;
    if (this.#failed) this.#options.onFailure();
  }

  #remove({ before, after }: Entry<T>): void {
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
  }
}
