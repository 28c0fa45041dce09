import { MAX_TEXT, unreadable, type Found, type Parser } from './parser.js';

/** Splits text into lines. Truncates a line that is longer than any record (`whole: false`). */
export class Lines {
  #rest = '';
  #skipping = false;

  push(text: string): { line: string; whole: boolean }[] {
    const lines: { line: string; whole: boolean }[] = [];
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      if (this.#skipping) this.#skipping = false;
      else lines.push({ line: withoutReturn(this.#rest + text.slice(from, end)), whole: true });
      this.#rest = '';
      from = end + 1;
    }
    if (!this.#skipping) this.#rest += text.slice(from);
    if (this.#rest.length > MAX_TEXT) {
      lines.push({ line: this.#rest, whole: false });
      this.#rest = '';
      this.#skipping = true;
    }
    return lines;
  }

  end(): { line: string; whole: boolean }[] {
    return this.#rest === '' ? [] : [{ line: withoutReturn(this.#rest), whole: true }];
  }
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

/**
 * Creates a parser that reads each line separately: a malformed line does not affect the others.
 */
export function createLineParser(read: (line: string) => Found[]): Parser {
  const lines = new Lines();
  const all = (found: { line: string; whole: boolean }[]): Found[] =>
    found.flatMap(({ line, whole }) => {
      if (!whole) return [unreadable('too_large', line)];
      return line.trim() === '' ? [] : read(line);
    });
  return { push: (text) => all(lines.push(text)), end: () => all(lines.end()) };
}
