/** Tracks change notifications of pipelines and which of them have been read. */
export class PendingChanges {
  /** Number of the last notification. */
  last = 0;
  /**
   * First notification of each pipeline: not yet being read (`#waiting`), being read (`#reading`).
   */
  readonly #waiting = new Map<string, number>();
  readonly #reading = new Map<string, number>();

  add(id: string): void {
    this.last += 1;
    if (!this.#waiting.has(id)) this.#waiting.set(id, this.last);
  }

  /** Marks these pipelines as being read: the read does not cover later notifications. */
  take(ids: readonly string[]): void {
    for (const id of ids) {
      const change = this.#waiting.get(id);
      if (change === undefined) continue;
      this.#waiting.delete(id);
      this.#reading.set(id, change);
    }
  }

  /** Marks these pipelines as read. */
  done(ids: readonly string[]): void {
    for (const id of ids) this.#reading.delete(id);
  }

  /** Drops all notifications after a failed read, so that no caller waits for them. */
  clear(): void {
    this.#waiting.clear();
    this.#reading.clear();
  }

  /** Returns whether any notification up to this number has not been read. */
  pendingUpTo(number: number): boolean {
    for (const changes of [this.#waiting, this.#reading])
      for (const change of changes.values()) if (change <= number) return true;
    return false;
  }
}
