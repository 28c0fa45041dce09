import { ContentError } from '../unpack.js';
import { MAX_TEXT, unreadable, type Found, type Parser } from './parser.js';
import { recordsOf } from './records-of.js';

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
interface Taking {
  depth: number;
  inText: boolean;
  scalar: boolean;
  wanted: boolean;
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
  #taking: Taking | undefined;
  readonly #frames: Frame[] = [];

  constructor(private readonly path: readonly string[]) {}

  push(text: string): Found[] {
    this.#text = this.#text.slice(this.#from) + text;
    this.#at -= this.#from;
    this.#from = 0;
    return this.#read();
  }

  end(): Found[] {
    const found = this.#taking?.scalar === true ? this.#taken() : [];
    if (this.#taking || this.#frames.length > 0) throw new ContentError('incomplete_json');
    return found;
  }

  #read(): Found[] {
    const found: Found[] = [];
    while (this.#at < this.#text.length) {
      if (this.#taking) {
        if (this.#take(this.#taking)) {
          found.push(...this.#taken());
          continue;
        }
        if (this.#taking.wanted && this.#at - this.#from > MAX_TEXT) {
          found.push(unreadable('too_large', this.#text.slice(this.#from, this.#from + 3_000)));
          this.#taking.wanted = false;
        }
        if (!this.#taking.wanted) this.#from = this.#at;
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
    if (SPACE.test(char)) this.#pass();
    else if (!frame) this.#begin(char, 0, false);
    else if (frame.list) {
      if (char === ']') this.#leave();
      else if (char === ',') this.#pass();
      else this.#begin(char, frame.steps, frame.records);
    } else if (frame.key === undefined) {
      if (char === '}') this.#leave();
      else if (char === ',') this.#pass();
      else return this.#readKey(frame, char);
    } else if (!frame.colon) {
      if (char !== ':') throw new ContentError('invalid_json');
      frame.colon = true;
      this.#pass();
    } else {
      const leads = frame.steps >= 0 && frame.key === this.path[frame.steps];
      frame.key = undefined;
      frame.colon = false;
      this.#begin(char, leads ? frame.steps + 1 : -1, false);
    }
    return true;
  }

  #pass(): void {
    this.#at += 1;
    this.#from = this.#at;
  }

  #leave(): void {
    this.#frames.pop();
    this.#pass();
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
    const here = steps === this.path.length;
    const opens = char === '{' || char === '[';
    if (this.#frames.length === 0 && !opens && !/["\d\-tfn]/.test(char)) throw new ContentError('invalid_json');
    if (opens && steps >= 0 && (here ? char === '[' && !isElement : true)) {
      if (this.#frames.length === MAX_DEPTH) throw new ContentError('invalid_json');
      this.#frames.push({ list: char === '[', steps, records: here, key: undefined, colon: false });
      this.#pass();
      return;
    }
    // Collect every top-level value, so that a scalar is reported as unreadable.
    const wanted = here || this.#frames.length === 0;
    this.#from = this.#at;
    this.#taking = { depth: 0, inText: false, scalar: !opens && char !== '"', wanted };
  }

  /** Advances to the end of a value. Returns `false` if it is incomplete. */
  #take(taking: Taking): boolean {
    const text = this.#text;
    for (;;) {
      const pattern = taking.inText ? IN_TEXT : taking.scalar ? IN_SCALAR : IN_VALUE;
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
        taking.inText = !taking.inText;
        if (!taking.inText && taking.depth === 0) return true;
      } else if (taking.scalar) {
        this.#at -= 1;
        return true;
      } else {
        taking.depth += sign === '{' || sign === '[' ? 1 : -1;
        if (taking.depth === 0) return true;
      }
    }
  }

  #taken(): Found[] {
    const found = this.#taking?.wanted === true ? recordsOf(this.#text.slice(this.#from, this.#at), []) : [];
    this.#taking = undefined;
    this.#from = this.#at;
    return found;
  }
}
