/**
 * Tracks packet sizes in the byte stream: a packet begins with one byte for its type, and its
 * remaining length in up to four bytes of seven bits.
 * https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901021
 */
export class PacketSizes {
  #state: 'type' | 'length' | 'content' = 'type';
  #length = 0;
  #shift = 0;
  readonly #max: number;

  /** @param max bytes of the largest packet */
  constructor(max: number) {
    this.#max = max;
  }

  /** Returns whether all packets that begin in `chunk` are small enough, and valid. */
  fits(chunk: Uint8Array): boolean {
    for (let index = 0; index < chunk.length;) {
      if (this.#state === 'content') {
        const skipped = Math.min(this.#length, chunk.length - index);
        this.#length -= skipped;
        index += skipped;
        if (this.#length === 0) this.#state = 'type';
        continue;
      }
      const byte = chunk[index] ?? 0;
      index += 1;
      if (this.#state === 'type') {
        this.#state = 'length';
        this.#length = 0;
        this.#shift = 0;
        continue;
      }
      this.#length += (byte & 127) << this.#shift;
      this.#shift += 7;
      if ((byte & 128) === 0) this.#state = this.#length === 0 ? 'type' : 'content';
      else if (this.#shift === 28) return false;
      if (this.#length > this.#max) return false;
    }
    return true;
  }
}
