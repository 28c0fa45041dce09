import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { ConnectorError, MAX_RESULT_BYTES } from '@connector-frame/engine/connector-api';
import { CsvError, parse } from 'csv-parse';
import { at, text } from '../read.js';
import { OperatorFile } from './operator-file.js';
import { invalidLookup, type FileContext } from './settings.js';

/** Limits of a table that is kept in memory. Larger ones belong into a key-value table. */
const MAX_ROWS = 200_000;
const MAX_BYTES = 32 * 1024 * 1024;

const DELIMITERS: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' };

/** A row of a table: its cells by column. */
export type Row = Readonly<Record<string, string>>;

/** Rows with the numbers of their lines, from 1. */
export type NumberedRows = readonly (readonly [row: Row, line: number])[];

export interface TableOptions<T> {
  /** A column that the table must have. */
  keyColumn: string;
  /** Name of the type: tables in one file are made from its rows in the same way. */
  type: string;
  /** Makes the table from its rows. @throws {ConnectorError} */
  build: (rows: NumberedRows) => T;
}

/** A table that is made from rows. */
export interface RowTable<T> {
  /** @throws {ConnectorError} */
  content(): Promise<T>;
  close(): void;
}

/**
 * Reads the table of a configuration: text in the settings, or a file of the operator.
 * @throws {ConnectorError} `invalid_config` or `not_enabled`
 */
export function readTable<T>(
  { settings }: Pick<ConnectorConfig, 'settings'>,
  context: FileContext,
  { keyColumn, type, build }: TableOptions<T>,
): RowTable<T> {
  const delimiter = DELIMITERS[text(settings, 'delimiter') ?? 'comma'] ?? ',';
  const from = async (source: Readable): Promise<T> => build(await rowsOf(source, delimiter, keyColumn));
  if (at(settings, 'table', 'type') === 'file') {
    const name = text(settings, 'table', 'file', 'name') ?? '';
    const reading = JSON.stringify([type, delimiter, keyColumn]);
    return new OperatorFile<T>({
      ...context,
      name,
      maxBytes: MAX_BYTES,
      reading,
      read: (path) => from(createReadStream(path, 'utf8')),
    });
  }
  const csv = at(settings, 'table', 'inline', 'csv');
  let content: Promise<T> | undefined;
  return {
    content: () => (content ??= from(Readable.from([typeof csv === 'string' ? csv : '']))),
    close: () => (content = undefined),
  };
}

async function rowsOf(source: Readable, delimiter: string, keyColumn: string): Promise<[Row, number][]> {
  const rows: [Row, number][] = [];
  let hasColumn = false;
  const parser = source.pipe(
    parse({
      delimiter,
      bom: true,
      info: true,
      skip_empty_lines: true,
      max_record_size: MAX_RESULT_BYTES,
      columns: (names: string[]) => {
        hasColumn = names.includes(keyColumn);
        if (new Set(names).size < names.length) throw invalidLookup('The table has two columns of the same name.');
        return names;
      },
    }),
  );
  source.once('error', (error) => parser.destroy(error));
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: Row; info: { lines: number } }>) {
      if (rows.length === MAX_ROWS) throw invalidLookup(`The table has more than ${MAX_ROWS} rows.`);
      rows.push([record, info.lines]);
    }
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    if (!(error instanceof CsvError)) throw error;
    const line: unknown = error['lines'];
    throw invalidLookup(`The table is no valid CSV${typeof line === 'number' ? ` at line ${line}` : ''}.`);
  }
  if (!hasColumn) throw invalidLookup(`The table has no column ${keyColumn}.`);
  return rows;
}
