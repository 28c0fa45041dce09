import { DelimitedParser, createWhitespaceParser } from './columns.js';
import { DocumentParser } from './json-documents.js';
import { createLineParser } from './json-lines.js';
import type { Parser } from './parser.js';
import { pathOf, recordsOf } from './parser.js';

export type { Found, Parser } from './parser.js';

/** The formats in the catalog's `storage#/format_in`. */
export const FORMATS = ['csv', 'delimited', 'json', 'jsonl', 'wsv'] as const;
export type Format = (typeof FORMATS)[number];

export interface FormatOptions {
  format: Format;
  /** Names of the columns; if empty, the first line contains them. */
  columns: readonly string[];
  /** Path to the records in a document: `data.records`. */
  location: string | undefined;
}

/** Creates a parser for one object. */
export function createParser({ format, columns, location }: FormatOptions): Parser {
  const path = pathOf(location);
  if (format === 'json') return new DocumentParser(path);
  if (format === 'jsonl') return createLineParser((line) => recordsOf(line, path));
  if (format === 'wsv') return createWhitespaceParser(columns);
  return format === 'csv' ? new DelimitedParser(columns, ',') : new DelimitedParser(columns);
}
