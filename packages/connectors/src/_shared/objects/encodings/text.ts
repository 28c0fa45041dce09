import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Batch, type DataRecord, isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { rowsOf, type Encoded, type Encoding } from './encoding.js';

const compress = promisify(gzip);

interface TextOptions {
  extension: string;
  contentType: string;
  gzip: boolean;
  /** Returns the text of the object. */
  write: (batch: Batch) => { text: string | undefined; rejected: Encoded['rejected'] };
}

function createTextEncoding({ extension, contentType, gzip: compressed, write }: TextOptions): Encoding {
  return {
    extension: compressed ? `${extension}.gz` : extension,
    contentType: compressed ? 'application/gzip' : contentType,
    maxBytes: 32 * 1024 * 1024,
    async encode(batch) {
      const { text, rejected } = write(batch);
      if (text === undefined) return { body: undefined, rejected };
      return { body: compressed ? await compress(text) : Buffer.from(text), rejected };
    },
  };
}

/** Creates an encoding with one record per line, unchanged. */
export const createLineEncoding = (gzip: boolean): Encoding =>
  createTextEncoding({
    extension: '.json',
    contentType: 'application/x-ndjson',
    gzip,
    write: ({ lines }) => ({ text: `${lines.join('\n')}\n`, rejected: [] }),
  });

/** Creates an encoding with one JSON array of all records, in an object under `key` if given. */
export const createArrayEncoding = (gzip: boolean, key?: string): Encoding =>
  createTextEncoding({
    extension: '.json',
    contentType: 'application/json',
    gzip,
    write(batch) {
      const { rows, rejected } = rowsOf(batch);
      if (rows.length === 0) return { text: undefined, rejected };
      const list = `[${rows.map(({ index }) => batch.lines[index]).join(',\n')}]`;
      return { text: key === undefined ? `${list}\n` : `{${JSON.stringify(key)}:${list}}\n`, rejected };
    },
  });

/**
 * Creates an encoding with selected fields of each record as rows (RFC 4180), below a header row.
 */
export const createDelimitedEncoding = (gzip: boolean, delimiter: string, fields: readonly string[]): Encoding => {
  const row = (cells: readonly string[]): string => cells.map((cell) => quote(cell, delimiter)).join(delimiter);
  return createTextEncoding({
    extension: delimiter === ',' ? '.csv' : delimiter === '\t' ? '.tsv' : '.txt',
    contentType: delimiter === ',' ? 'text/csv' : 'text/plain',
    gzip,
    write(batch) {
      const { rows, rejected } = rowsOf(batch);
      if (rows.length === 0) return { text: undefined, rejected };
      const body = rows.map(({ record }) => row(fields.map((field) => textOf(valueAt(record, field)))));
      return { text: `${[row(fields), ...body].join('\r\n')}\r\n`, rejected };
    },
  });
};

const quote = (cell: string, delimiter: string): string =>
  cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

/** Returns a field by its name or its path: `actor.email`. */
export function valueAt(record: DataRecord, field: string): JsonValue | undefined {
  if (Object.hasOwn(record, field)) return record[field];
  let value: JsonValue | undefined = record;
  for (const step of field.split('.')) value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

/** Converts a value to text: nested values to JSON, null and absent values to an empty string. */
export function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
