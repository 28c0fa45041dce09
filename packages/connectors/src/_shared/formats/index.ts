import { DelimitedParser, createWhitespaceParser } from './columns.js';
import { DocumentParser } from './json-documents.js';
import { createLineParser } from './json-lines.js';
import type { Parser } from './parser.js';
import { pathOf, recordsOf } from './parser.js';
import { tidied } from './tidy.js';
import { createW3cParser } from './w3c.js';

export type { Found, Parser } from './parser.js';

/** The formats in the catalog's `storage#/format_in`. */
export const FORMATS = ['csv', 'delimited', 'json', 'jsonl', 'wsv'] as const;
/** Formats that only definitions of types have: columns separated by `|`, lines, and log files of the W3C. */
export type Format = (typeof FORMATS)[number] | 'pipes' | 'text' | 'w3c';

export interface FormatOptions {
  format: Format;
  /** Names of the columns; if empty, the first line contains them. */
  columns: readonly string[];
  /** Path to the records in a document: `data.records`. */
  location: string | undefined;
  /** Text that stands for "no value": the field is left out. Absent: texts stay as they are. */
  empty?: string | undefined;
}

/** Creates a parser for one object. */
export function createParser(options: FormatOptions): Parser {
  const parser = parserOf(options);
  return options.empty === undefined ? parser : tidied(parser, options.empty);
}

function parserOf({ format, columns, location }: FormatOptions): Parser {
  const path = pathOf(location);
  if (format === 'json') return new DocumentParser(path);
  if (format === 'jsonl') return createLineParser((line) => recordsOf(line, path));
  if (format === 'wsv') return createWhitespaceParser(columns);
  if (format === 'text') return createLineParser((line) => [{ record: { message: line } }]);
  if (format === 'w3c') return createW3cParser();
  if (format === 'pipes') return new DelimitedParser(columns, '|');
  return format === 'csv' ? new DelimitedParser(columns, ',') : new DelimitedParser(columns);
}
