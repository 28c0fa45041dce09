import type { DataRecord } from '@connector-frame/engine/connector-api';
import { ContentError } from '../unpack.js';
import { createLineParser } from './json-lines.js';
import { MAX_TEXT, type Found, type Parser } from './parser.js';

/**
 * Assigns names to the cells of a row, from the settings or the header row. Values stay strings.
 */
class Columns {
  #names: readonly string[] | undefined;

  constructor(names: readonly string[]) {
    this.#names = names.length > 0 ? names : undefined;
  }

  /** Returns nothing for the header row. */
  record(cells: readonly string[]): Found[] {
    if (!this.#names) {
      this.#names = unique(cells);
      return [];
    }
    const names = this.#names;
    const record: DataRecord = Object.fromEntries(
      cells.map((cell, index) => [names[index] ?? `column_${index + 1}`, cell]),
    );
    return [{ record }];
  }
}

function unique(cells: readonly string[]): string[] {
  const seen = new Set<string>();
  return cells.map((cell, index) => {
    const name = cell.trim();
    const free = name === '' || seen.has(name) ? `column_${index + 1}` : name;
    seen.add(free);
    return free;
  });
}

/**
 * Creates a parser for cells separated by spaces and tabs. A cell in double quotes may contain
 * them.
 */
export function createWhitespaceParser(names: readonly string[]): Parser {
  const columns = new Columns(names);
  return createLineParser((line) =>
    columns.record(
      [...line.matchAll(/"((?:[^"\\]|\\.|"")*)"(?=\s|$)|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? ''),
    ),
  );
}

/** Delimiters to detect: the most frequent one in the first line is used. */
const DELIMITERS = ['\t', '|', ';', ','];

/**
 * Parses rows as in RFC 4180: a cell in double quotes may contain the delimiter, line breaks and
 * doubled quotes.
 * @param delimiter if absent, detected in the first line
 */
export class DelimitedParser implements Parser {
  readonly #columns: Columns;
  #rest = '';

  constructor(
    names: readonly string[],
    private delimiter?: string,
  ) {
    this.#columns = new Columns(names);
  }

  push(text: string): Found[] {
    this.#rest += text;
    const found: Found[] = [];
    let from = 0;
    for (;;) {
      const row = this.#row(from, false);
      if (!row) break;
      from = row.end;
      found.push(...this.#record(row.cells));
    }
    this.#rest = this.#rest.slice(from);
    if (this.#rest.length > MAX_TEXT) throw new ContentError('unclosed_quote');
    return found;
  }

  end(): Found[] {
    const found: Found[] = [];
    for (let from = 0; from < this.#rest.length;) {
      const row = this.#row(from, true);
      if (!row) throw new ContentError('unclosed_quote');
      from = row.end;
      found.push(...this.#record(row.cells));
    }
    return found;
  }

  #record(cells: readonly string[]): Found[] {
    return cells.length === 1 && cells[0]?.trim() === '' ? [] : this.#columns.record(cells);
  }

  /** Parses one row. Returns `undefined` if it is incomplete. */
  #row(from: number, last: boolean): { cells: string[]; end: number } | undefined {
    const text = this.#rest;
    const cells: string[] = [];
    for (let at = from; ;) {
      const cell = text[at] === '"' ? this.#quoted(at, last) : this.#bare(at, last);
      if (!cell) return undefined;
      cells.push(cell.value);
      at = cell.end;
      if (at >= text.length) return last ? { cells, end: text.length } : undefined;
      if (text[at] === '\n') return { cells, end: at + 1 };
      at += 1;
    }
  }

  /** Parses up to the next delimiter or line break. */
  #bare(from: number, last: boolean): { value: string; end: number } | undefined {
    const text = this.#rest;
    const line = text.indexOf('\n', from);
    if (line < 0 && !last) return undefined;
    const lineEnd = line < 0 ? text.length : line;
    this.delimiter ??= mostOf(text.slice(from, lineEnd));
    const next = text.indexOf(this.delimiter, from);
    const end = next < 0 || next > lineEnd ? lineEnd : next;
    const value = text.slice(from, end);
    return { value: end === lineEnd && value.endsWith('\r') ? value.slice(0, -1) : value, end };
  }

  #quoted(from: number, last: boolean): { value: string; end: number } | undefined {
    const text = this.#rest;
    let value = '';
    for (let at = from + 1; ;) {
      const quote = text.indexOf('"', at);
      // The next character tells whether this quote closes the cell.
      if (quote < 0 || (quote + 1 >= text.length && !last)) return undefined;
      value += text.slice(at, quote);
      if (text[quote + 1] !== '"') {
        const rest = this.#bare(quote + 1, last);
        return rest && { value: value + rest.value, end: rest.end };
      }
      value += '"';
      at = quote + 2;
    }
  }
}

function mostOf(line: string): string {
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}
