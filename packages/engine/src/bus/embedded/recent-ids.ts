const REMEMBERED = 1024;

/** Ids of the last batches of a stream, with their sequence, oldest first. */
export class RecentIds {
  #ids = new Map<string, number>();
  /** All of them while the stream rests: as one text they take a third of the room, and streams are many. */
  #resting: string | undefined;

  get(id: string): number | undefined {
    return this.#awake().get(id);
  }

  add(id: string, sequence: number): void {
    const ids = this.#awake();
    ids.delete(id);
    ids.set(id, sequence);
    if (ids.size <= REMEMBERED) return;
    for (const oldest of ids.keys()) {
      ids.delete(oldest);
      break;
    }
  }

  toText(): string {
    return this.#resting ?? [...this.#ids].map(([id, sequence]) => `${sequence} ${id}`).join('\n');
  }

  addText(text: string): void {
    for (const line of text.split('\n')) {
      const space = line.indexOf(' ');
      if (space > 0) this.add(line.slice(space + 1), Number(line.slice(0, space)));
    }
  }

  /** Nothing is asked for a while. */
  rest(): void {
    // Through bytes: else it would hold on to the texts it was joined from.
    this.#resting ??= Buffer.from(this.toText()).toString();
    this.#ids = new Map();
  }

  #awake(): Map<string, number> {
    const text = this.#resting;
    this.#resting = undefined;
    if (text !== undefined) this.addText(text);
    return this.#ids;
  }
}
