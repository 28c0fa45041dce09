/** Capacity. `add` waits while the queue is full. */
const MAX_WAITING = 2_000;

/** Passes items of several sources to one reader, and slows the sources down to its speed. */
export class EventQueue<Item> {
  #items: Item[] = [];
  #ended = false;
  #error: unknown;
  #changed: (() => void)[] = [];

  /** Resolves when there is room again, or the queue has ended. */
  async add(items: readonly Item[]): Promise<void> {
    if (this.#ended) return;
    this.#items.push(...items);
    this.#notify();
    while (this.#items.length > MAX_WAITING && !this.#ended) await this.#change();
  }

  /** Ends the queue. The first call decides about the error. */
  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#notify();
  }

  /**
   * Returns all items once there are some; `undefined` at the end.
   * @throws the error that ended the queue, after the last items
   */
  async take(): Promise<readonly Item[] | undefined> {
    while (this.#items.length === 0 && !this.#ended) await this.#change();
    const items = this.#items.splice(0);
    this.#notify();
    if (items.length > 0) return items;
    if (this.#error !== undefined) throw this.#error;
    return undefined;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }

  #notify(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }
}
