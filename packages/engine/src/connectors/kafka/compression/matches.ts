/** A stretch of bytes that was there before: `length` bytes at `at` are those `offset` bytes back. */
export interface Match {
  at: number;
  length: number;
  offset: number;
}

const HASH_BITS = 13;
const MIN_MATCH = 4;

/**
 * Repeats in `source` from left to right, found by a table of the places where four bytes were last seen. None reaches
 * back further than the bytes themselves, so a source of at most 64 KiB has offsets of 16 bits.
 * @param lastStart no match begins after this place
 * @param end no match goes beyond this place
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

/** Bytes that are written one after another, at most so many. */
export class Sink {
  #bytes: Buffer;
  length = 0;

  /** @throws RangeError a size nobody takes */
  constructor(size: number, most: number) {
    if (size > most) throw new RangeError('too large');
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** @throws RangeError there is no room for it */
  literal(source: Buffer, from: number, to: number): void {
    if (to > source.length || this.length + to - from > this.#bytes.length) throw new RangeError('out of bounds');
    source.copy(this.#bytes, this.length, from, to);
    this.length += to - from;
  }

  /** Bytes from `offset` back, which may be among those it writes. @throws RangeError there is no room, or nothing there */
  repeat(offset: number, length: number): void {
    if (offset < 1 || offset > this.length || this.length + length > this.#bytes.length)
      throw new RangeError('out of bounds');
    for (let index = 0; index < length; index += 1, this.length += 1)
      this.#bytes[this.length] = this.#bytes[this.length - offset] ?? 0;
  }

  /** Bytes it can still take. */
  get room(): number {
    return this.#bytes.length - this.length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }
}
