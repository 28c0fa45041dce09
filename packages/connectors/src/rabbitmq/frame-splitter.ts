/** Type, channel and size; and the octet at the end. */
const HEAD = 7;
const OVERHEAD = HEAD + 1;

/** Splits the byte stream into frames. https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf, 4.2.3 */
export class FrameSplitter {
  #rest = new Uint8Array(0);
  readonly #max: number;

  /** @param max bytes of the largest frame */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Returns the frames that are complete with `chunk`.
   * @throws Error if a frame is too large
   */
  push(chunk: Uint8Array): Uint8Array<ArrayBuffer>[] {
    const bytes = new Uint8Array(this.#rest.length + chunk.length);
    bytes.set(this.#rest);
    bytes.set(chunk, this.#rest.length);
    const view = new DataView(bytes.buffer);
    const frames: Uint8Array<ArrayBuffer>[] = [];
    let at = 0;
    while (bytes.length - at >= HEAD) {
      const size = view.getUint32(at + 3) + OVERHEAD;
      if (size > this.#max) throw new Error('frame too large');
      if (bytes.length - at < size) break;
      frames.push(bytes.subarray(at, at + size));
      at += size;
    }
    this.#rest = bytes.slice(at);
    return frames;
  }
}
