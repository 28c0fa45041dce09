/** Which pipelines were said to have changed, and what of it was read since. */
export class Hints {
  /** Number of the last one. */
  last = 0;
  /** The first hint of each pipeline that nobody has begun to read; and of those that are being read. */
  readonly #waiting = new Map<string, number>();
  readonly #reading = new Map<string, number>();

  tell(id: string): void {
    this.last += 1;
    if (!this.#waiting.has(id)) this.#waiting.set(id, this.last);
  }

  /** Reading these begins: what is told from now on is not in it. */
  take(ids: readonly string[]): void {
    for (const id of ids) {
      const hint = this.#waiting.get(id);
      if (hint === undefined) continue;
      this.#waiting.delete(id);
      this.#reading.set(id, hint);
    }
  }

  /** They are read. */
  done(ids: readonly string[]): void {
    for (const id of ids) this.#reading.delete(id);
  }

  /** They can't be read now: nobody should wait. */
  clear(): void {
    this.#waiting.clear();
    this.#reading.clear();
  }

  /** Whether something is unread of what was told up to the hint of this number. */
  pendingUpTo(number: number): boolean {
    for (const hints of [this.#waiting, this.#reading])
      for (const hint of hints.values()) if (hint <= number) return true;
    return false;
  }
}
