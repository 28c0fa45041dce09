import type { Peer } from './protocol.js';

/** The stream has ended within something. */
export class EndOfStream extends Error {
  override readonly name = 'EndOfStream';
}

/** Reads a stream in pieces of known length. */
export class ByteReader {
  #chunks: Buffer[] = [];
  #size = 0;
  readonly #source: AsyncIterator<Buffer>;
  readonly #peer: Pick<Peer, 'hold' | 'release'>;

  constructor(source: AsyncIterable<Buffer>, peer: Pick<Peer, 'hold' | 'release'>) {
    this.#source = source[Symbol.asyncIterator]();
    this.#peer = peer;
  }

  /** Whether all received bytes have been read. */
  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Returns whether the stream has ended. Waits for the next byte. */
  async ended(): Promise<boolean> {
    while (this.#size === 0) if (!(await this.#more())) return true;
    return false;
  }

  /** @throws EndOfStream */
  async take(length: number): Promise<Buffer> {
    while (this.#size < length) if (!(await this.#more())) throw new EndOfStream('The stream has ended.');
    const [first] = this.#chunks;
    const whole = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks, this.#size);
    this.#chunks = whole.length > length ? [whole.subarray(length)] : [];
    this.#size = whole.length - length;
    this.#peer.release();
    if (this.#size > 0) this.#peer.hold(this.#size);
    return whole.subarray(0, length);
  }

  async uint32(): Promise<number> {
    return (await this.take(4)).readUInt32BE(0);
  }

  async #more(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#peer.hold(next.value.length);
    this.#chunks.push(next.value);
    this.#size += next.value.length;
    return true;
  }
}
