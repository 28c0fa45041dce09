const MAX_IDS = 1024;

/** Ids of the most recent batches of a stream with their sequences, oldest first. */
export class RecentIds {
  #ids = new Map<string, number>();
  /**
   * Holds all entries while the stream is idle: one string takes a third of the memory, and there
   * are many streams.
   */
  #compacted: string | undefined;

  get(id: string): number | undefined {
    return this.#expand().get(id);
  }

  add(id: string, sequence: number): void {
    const ids = this.#expand();
    ids.delete(id);
    ids.set(id, sequence);
    if (ids.size <= MAX_IDS) return;
    for (const oldest of ids.keys()) {
      ids.delete(oldest);
      break;
    }
  }

  toText(): string {
    return this.#compacted ?? [...this.#ids].map(([id, sequence]) => `${sequence} ${id}`).join('\n');
  }

  addText(text: string): void {
    for (const line of text.split('\n')) {
      const space = line.indexOf(' ');
      if (space > 0) this.add(line.slice(space + 1), Number(line.slice(0, space)));
    }
  }

  /** Compacts the entries into one string until the next access. */
  compact(): void {
    // Copies through a buffer: a joined string would keep its source strings in memory.
    this.#compacted ??= Buffer.from(this.toText()).toString();
    this.#ids = new Map();
  }

  #expand(): Map<string, number> {
    const text = this.#compacted;
    this.#compacted = undefined;
    if (text !== undefined) this.addText(text);
    return this.#ids;
  }
}
