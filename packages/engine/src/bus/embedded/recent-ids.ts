const REMEMBERED = 1024;

/** Ids of the last batches of a stream, with their sequence, oldest first. */
export class RecentIds {
  readonly #ids = new Map<string, number>();

  get(id: string): number | undefined {
    return this.#ids.get(id);
  }

  add(id: string, sequence: number): void {
    this.#ids.delete(id);
    this.#ids.set(id, sequence);
    if (this.#ids.size <= REMEMBERED) return;
    for (const oldest of this.#ids.keys()) {
      this.#ids.delete(oldest);
      break;
    }
  }

  toText(): string {
    return [...this.#ids].map(([id, sequence]) => `${sequence} ${id}`).join('\n');
  }

  addText(text: string): void {
    for (const line of text.split('\n')) {
      const space = line.indexOf(' ');
      if (space > 0) this.add(line.slice(space + 1), Number(line.slice(0, space)));
    }
  }
}
