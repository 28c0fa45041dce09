/** A repeated sequence: the `length` bytes at `at` equal those `offset` bytes earlier. */
export interface Match {
  at: number;
  length: number;
  offset: number;
}

const HASH_BITS = 13;
const MIN_MATCH = 4;

/**
 * Yields repeated sequences in `source` from left to right, using a hash table of the last position
 * of each four-byte sequence. Offsets never exceed the length of `source`, so they fit in 16 bits
 * for at most 64 KiB.
 *
 * @param lastStart last position where a match may start
 * @param end position that no match extends beyond
 */
export function* findMatches(source: Buffer, lastStart: number, end: number): Generator<Match> {
  const table = new Int32Array(1 << HASH_BITS).fill(-1);
  for (let at = 0; at <= lastStart;) {
    const word = source.readUInt32LE(at);
    const slot = Math.imul(word, 0x9e3779b1) >>> (32 - HASH_BITS);
    const before = table[slot] ?? -1;
    table[slot] = at;
    if (before < 0 || source.readUInt32LE(before) !== word) {
      at += 1;
      continue;
    }
    let length = MIN_MATCH;
    while (at + length < end && source[before + length] === source[at + length]) length += 1;
    yield { at, length, offset: at - before };
    at += length;
  }
}

/** An output buffer of fixed size. */
export class Sink {
  #bytes: Buffer;
  length = 0;

  /** @throws RangeError if `size` exceeds `most` */
  constructor(size: number, most: number) {
    if (size > most) throw new RangeError('too large');
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** Copies bytes of `source`. @throws RangeError if they don't fit or are out of range */
  literal(source: Buffer, from: number, to: number): void {
    if (to > source.length || this.length + to - from > this.#bytes.length) throw new RangeError('out of bounds');
    source.copy(this.#bytes, this.length, from, to);
    this.length += to - from;
  }

  /**
   * Repeats bytes from `offset` bytes back; the source range may overlap the bytes being written.
   *
   * @throws RangeError if they don't fit or `offset` is out of range
   */
  repeat(offset: number, length: number): void {
    if (offset < 1 || offset > this.length || this.length + length > this.#bytes.length)
      throw new RangeError('out of bounds');
    for (let index = 0; index < length; index += 1, this.length += 1)
      this.#bytes[this.length] = this.#bytes[this.length - offset] ?? 0;
  }

  /** Free bytes. */
  get room(): number {
    return this.#bytes.length - this.length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }
}
