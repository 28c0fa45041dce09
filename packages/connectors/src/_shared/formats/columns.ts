import { parse, type Parser as CsvParser } from 'csv-parse';
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

/** Delimiters to detect: the most frequent one in the first row is used. */
const DELIMITERS = ['\t', '|', ';', ','];
/** Characters of the first row that the delimiter is detected in, at most. */
const MAX_DETECT = 64 * 1024;

/**
 * Parses rows as in RFC 4180: a cell in double quotes may contain the delimiter, line breaks and
 * doubled quotes. Tolerates quotes elsewhere in a cell.
 * @param delimiter if absent, detected in the first row
 */
export class DelimitedParser implements Parser {
  readonly #columns: Columns;
  #rows: Rows | undefined;
  /** Text that the delimiter is detected in. */
  #first = '';

  constructor(names: readonly string[], delimiter?: string) {
    this.#columns = new Columns(names);
    if (delimiter !== undefined) this.#rows = new Rows(delimiter);
  }

  push(text: string): Found[] {
    if (this.#rows) return this.#records(this.#rows.push(text));
    this.#first += text;
    return this.#detect(this.#first.length > MAX_DETECT);
  }

  end(): Found[] {
    return [...this.#detect(true), ...this.#records(this.#rows?.end() ?? [])];
  }

  /** Detects the delimiter once the first row is complete, then parses the text so far. */
  #detect(complete: boolean): Found[] {
    if (this.#rows) return [];
    const text = this.#first;
    const unquoted = text.split('"').filter((_part, index) => index % 2 === 0);
    const row = unquoted.join('');
    const end = row.indexOf('\n');
    if (end < 0 && !complete) return [];
    this.#first = '';
    this.#rows = new Rows(mostOf(end < 0 ? row : row.slice(0, end)));
    return this.#records(this.#rows.push(text));
  }

  #records(rows: readonly string[][]): Found[] {
    return rows.flatMap((cells) => (cells.length === 1 && cells[0]?.trim() === '' ? [] : this.#columns.record(cells)));
  }
}

function mostOf(line: string): string {
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Splits text into rows of cells. */
class Rows {
  readonly #parser: CsvParser;

  constructor(delimiter: string) {
    this.#parser = parse({
      delimiter,
      record_delimiter: ['\n', '\r\n'],
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: MAX_TEXT,
    });
    // `#take` reports errors.
    this.#parser.on('error', () => undefined);
  }

  /** @throws ContentError */
  push(text: string): string[][] {
    this.#parser.write(text);
    return this.#take();
  }

  /** @throws ContentError */
  end(): string[][] {
    this.#parser.end();
    return this.#take();
  }

  /** Takes all rows: the parser transforms synchronously as long as no row is left in it. */
  #take(): string[][] {
    const rows: string[][] = [];
    for (let row: unknown; (row = this.#parser.read()) !== null;) if (Array.isArray(row)) rows.push(row);
    // With these options, the only errors are a quote that is open at the end of the text, and a
    // row that exceeds `MAX_TEXT`, which such a quote is the usual cause of.
    if (this.#parser.errored) throw new ContentError('unclosed_quote');
    return rows;
  }
}
