import { ContentError } from '../unpack.js';
import { MAX_TEXT, unreadable, type Found, type Parser } from './parser.js';
import { recordsOf } from './parser.js';

/** An object or array that the parser descends into. */
interface Frame {
  list: boolean;
  /** Number of path steps that lead here; -1: not on the path. */
  steps: number;
  /** Whether the elements of this array are the records. */
  records: boolean;
  key: string | undefined;
  colon: boolean;
}

/** A value that is scanned as a whole. */
interface PendingValue {
  depth: number;
  inText: boolean;
  scalar: boolean;
  selected: boolean;
}

const MAX_DEPTH = 100;
const SPACE = /\s/;
/** The next significant character inside a string, a scalar, and an object or array. */
const IN_TEXT = /["\\]/g;
const IN_SCALAR = /[\s,\]}]/g;
const IN_VALUE = /["{}[\]]/g;

/**
 * Parses concatenated JSON documents. Yields the elements of the array at `path`, or the other
 * value there. Holds only one record at a time, however large a document is.
 */
export class DocumentParser implements Parser {
  #text = '';
  /** Index of the next character. */
  #at = 0;
  /** Text before this index is no longer needed. */
  #from = 0;
  #pending: PendingValue | undefined;
  readonly #frames: Frame[] = [];
  readonly #path: readonly string[];

  constructor(path: readonly string[]) {
    this.#path = path;
  }

  push(text: string): Found[] {
    this.#text = this.#text.slice(this.#from) + text;
    this.#at -= this.#from;
    this.#from = 0;
    return this.#read();
  }

  end(): Found[] {
    const found = this.#pending?.scalar === true ? this.#cached() : [];
    if (this.#pending || this.#frames.length > 0) throw new ContentError('incomplete_json');
    return found;
  }

  #read(): Found[] {
    const found: Found[] = [];
    while (this.#at < this.#text.length) {
      if (this.#pending) {
        if (this.#scan(this.#pending)) {
          found.push(...this.#cached());
          continue;
        }
        if (this.#pending.selected && this.#at - this.#from > MAX_TEXT) {
          found.push(unreadable('too_large', this.#text.slice(this.#from, this.#from + 3_000)));
          this.#pending.selected = false;
        }
        if (!this.#pending.selected) this.#from = this.#at;
        break;
      } else if (!this.#step()) break;
    }
    return found;
  }

  /**
   * Processes one token of the structure around the records. Returns `false` if it is incomplete.
   */
  #step(): boolean {
    const char = this.#text[this.#at] ?? '';
    const frame = this.#frames.at(-1);
    if (SPACE.test(char)) this.#advance();
    else if (!frame) this.#begin(char, 0, false);
    else if (frame.list) {
      if (char === ']') this.#leave();
      else if (char === ',') this.#advance();
      else this.#begin(char, frame.steps, frame.records);
    } else if (frame.key === undefined) {
      if (char === '}') this.#leave();
      else if (char === ',') this.#advance();
      else return this.#readKey(frame, char);
    } else if (!frame.colon) {
      if (char !== ':') throw new ContentError('invalid_json');
      frame.colon = true;
      this.#advance();
    } else {
      const leads = frame.steps >= 0 && frame.key === this.#path[frame.steps];
      frame.key = undefined;
      frame.colon = false;
      this.#begin(char, leads ? frame.steps + 1 : -1, false);
    }
    return true;
  }

  #advance(): void {
    this.#at += 1;
    this.#from = this.#at;
  }

  #leave(): void {
    this.#frames.pop();
    this.#advance();
  }

  #readKey(frame: Frame, char: string): boolean {
    if (char !== '"') throw new ContentError('invalid_json');
    const whole = /"(?:[^"\\]|\\[^])*"/y;
    whole.lastIndex = this.#at;
    const key = whole.exec(this.#text)?.[0];
    if (key === undefined) {
      if (this.#text.length - this.#at > MAX_TEXT) throw new ContentError('invalid_json');
      return false;
    }
    try {
      frame.key = String(JSON.parse(key));
    } catch {
      throw new ContentError('invalid_json');
    }
    this.#at += key.length;
    this.#from = this.#at;
    return true;
  }

  #begin(char: string, steps: number, isElement: boolean): void {
    const here = steps === this.#path.length;
    const opens = char === '{' || char === '[';
    if (this.#frames.length === 0 && !opens && !/["\d\-tfn]/.test(char)) throw new ContentError('invalid_json');
    if (opens && steps >= 0 && (here ? char === '[' && !isElement : true)) {
      if (this.#frames.length === MAX_DEPTH) throw new ContentError('invalid_json');
      this.#frames.push({ list: char === '[', steps, records: here, key: undefined, colon: false });
      this.#advance();
      return;
    }
    // Collect every top-level value, so that a scalar is reported as unreadable.
    const selected = here || this.#frames.length === 0;
    this.#from = this.#at;
    this.#pending = { depth: 0, inText: false, scalar: !opens && char !== '"', selected };
  }

  /** Advances to the end of a value. Returns `false` if it is incomplete. */
  #scan(pending: PendingValue): boolean {
    const text = this.#text;
    for (;;) {
      const pattern = pending.inText ? IN_TEXT : pending.scalar ? IN_SCALAR : IN_VALUE;
      pattern.lastIndex = this.#at;
      if (!pattern.test(text)) {
        this.#at = text.length;
        return false;
      }
      this.#at = pattern.lastIndex;
      const sign = text[this.#at - 1];
      if (sign === '\\') {
        // The escaped character may be in the next chunk.
        if (this.#at === text.length) {
          this.#at -= 1;
          return false;
        }
        this.#at += 1;
      } else if (sign === '"') {
        pending.inText = !pending.inText;
        if (!pending.inText && pending.depth === 0) return true;
      } else if (pending.scalar) {
        this.#at -= 1;
        return true;
      } else {
        pending.depth += sign === '{' || sign === '[' ? 1 : -1;
        if (pending.depth === 0) return true;
      }
    }
  }

  #cached(): Found[] {
    const found = this.#pending?.selected === true ? recordsOf(this.#text.slice(this.#from, this.#at), []) : [];
    this.#pending = undefined;
    this.#from = this.#at;
    return found;
  }
}
