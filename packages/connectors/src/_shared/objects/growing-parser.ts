import { ContentError } from '../unpack.js';
import { MAX_TEXT, recordsOf, unreadable, type Found } from '../formats/parser.js';

/** Where to continue in an object that grows. */
export interface GrowthPosition {
  /** Bytes before it are done. */
  offset: number;
  /** Whether the records are the elements of the array in `{"records":[`. */
  nested: boolean;
}

/** A record, and the position behind it. */
export interface Grown {
  found: readonly Found[];
  position: GrowthPosition;
}

const HEAD = /^(?:\u00ef\u00bb\u00bf)?\s*\{\s*"records"\s*:\s*\[/;
/** Bytes that decide whether the records are nested. */
const HEAD_BYTES = 64;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d];
const BYTE_ORDER_MARK: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf]);

/**
 * Parses the JSON records of an object that is appended to, from a position on: objects that follow
 * each other, or the elements of `{"records":[…]}`. A record that is not complete yet is left for the
 * next time. Azure writes platform logs in both forms; the end of the second one, `]}`, moves with
 * every block.
 * https://learn.microsoft.com/azure/network-watcher/flow-logs-read
 */
export class GrowingParser {
  /** Bytes before it are done. */
  #offset: number;
  /** `undefined`: not known yet. */
  #nested: boolean | undefined;
  /** Bytes behind `#offset`, without the first `#dropped`. */
  #bytes: Buffer = Buffer.alloc(0);
  /** Bytes of the current record that are not kept, because it is too large. */
  #dropped = 0;
  /** Index in `#bytes` of the next byte to scan. */
  #index = 0;
  #depth = 0;
  #inText = false;
  #ended = false;

  constructor(position: GrowthPosition | undefined) {
    this.#offset = position?.offset ?? 0;
    this.#nested = position?.nested;
  }

  get position(): GrowthPosition {
    return { offset: this.#offset, nested: this.#nested ?? false };
  }

  *push(chunk: Uint8Array): Generator<Grown, void, void> {
    if (this.#ended) return;
    this.#bytes = this.#bytes.byteLength === 0 ? Buffer.from(chunk) : Buffer.concat([this.#bytes, chunk]);
    if (this.#nested === undefined && !this.#readHead(HEAD_BYTES)) return;
    yield* this.#read();
  }

  /** Parses the rest of a short object. */
  *end(): Generator<Grown, void, void> {
    if (this.#nested !== undefined) return;
    this.#readHead(0);
    yield* this.#read();
  }

  /** Decides whether the records are nested. Returns `false` if more bytes are needed. */
  #readHead(needed: number): boolean {
    const head = HEAD.exec(this.#bytes.subarray(0, HEAD_BYTES).toString('latin1'))?.[0];
    if (head === undefined && this.#bytes.byteLength < needed) return false;
    this.#nested = head !== undefined;
    if (head !== undefined) this.#consume(head.length);
    return true;
  }

  *#read(): Generator<Grown, void, void> {
    while ((this.#depth > 0 || this.#begin()) && this.#scan()) {
      const text = this.#bytes.subarray(0, this.#index).toString('utf8');
      const found = this.#dropped > 0 ? [unreadable('too_large', text)] : recordsOf(text, []);
      this.#consume(this.#index);
      yield { found, position: this.position };
    }
  }

  /** Skips what separates records. Returns `false` if no record begins. */
  #begin(): boolean {
    for (const [index, byte] of this.#bytes.entries()) {
      if (byte === OPEN || byte === OPEN_LIST) {
        this.#consume(index);
        return true;
      }
      this.#ended = this.#nested === true && byte === CLOSE_LIST;
      if (this.#ended) return false;
      if (byte > 0x20 && byte !== COMMA && !BYTE_ORDER_MARK.has(byte)) throw new ContentError('invalid_json');
    }
    return false;
  }

  /** Scans to the end of the record. Returns `false` if it is incomplete. */
  #scan(): boolean {
    const bytes = this.#bytes;
    while (this.#index < bytes.byteLength) {
      const byte = bytes[this.#index];
      // The escaped byte may be in the next chunk.
      if (this.#inText && byte === BACKSLASH && this.#index + 1 === bytes.byteLength) break;
      this.#index += this.#inText && byte === BACKSLASH ? 2 : 1;
      if (byte === QUOTE) this.#inText = !this.#inText;
      if (this.#inText) continue;
      if (byte === OPEN || byte === OPEN_LIST) this.#depth += 1;
      if (byte !== CLOSE && byte !== CLOSE_LIST) continue;
      this.#depth -= 1;
      if (this.#depth === 0) return true;
    }
    if (this.#dropped + bytes.byteLength > MAX_TEXT) {
      this.#dropped += this.#index;
      this.#bytes = bytes.subarray(this.#index);
      this.#index = 0;
    }
    return false;
  }

  #consume(length: number): void {
    this.#bytes = this.#bytes.subarray(length);
    this.#offset += this.#dropped + length;
    this.#index = 0;
    this.#dropped = 0;
  }
}
