import { at, text, texts } from '../../read.js';
import { invalidConfig } from '../../output/send.js';
import type { Encoding } from './encoding.js';
import { createParquetEncoding } from './parquet.js';
import { createArrayEncoding, createDelimitedEncoding, createLineEncoding } from './text.js';

export type { Encoding } from './encoding.js';

/**
 * Creates the encoding that the settings choose (`storage#/format_out`).
 * @throws ConnectorError `invalid_config`, permanent
 */
export function readEncoding(settings: Record<string, unknown>): Encoding {
  const format = at(settings, 'format_config');
  const compression = text(settings, 'compression') ?? 'gzip';
  if (compression !== 'gzip' && compression !== 'none') throw invalidConfig('This compression is not supported.');
  const gzip = compression === 'gzip';
  switch (text(format, 'Format') ?? 'json') {
    case 'json':
      return readJson(at(format, 'json_format'), gzip);
    case 'parquet':
      return createParquetEncoding(gzip, text(format, 'parquet_format', 'schema'));
    case 'delimited':
      return readDelimited(at(format, 'delimited_format'), gzip);
    default:
      throw invalidConfig('This file format is not supported.');
  }
}

function readJson(format: unknown, gzip: boolean): Encoding {
  switch (text(format, 'type') ?? 'line') {
    case 'line':
      return createLineEncoding(gzip);
    case 'array':
      return createArrayEncoding(gzip);
    case 'nested':
      return createArrayEncoding(gzip, text(format, 'key') ?? 'records');
    default:
      throw invalidConfig('This JSON layout is not supported.');
  }
}

function readDelimited(format: unknown, gzip: boolean): Encoding {
  // Not read with `text`, which would trim a tab.
  const delimiter = at(format, 'delimiter');
  const fields = texts(format, 'headers');
  if (typeof delimiter !== 'string' || delimiter === '' || /["\r\n]/.test(delimiter))
    throw invalidConfig('Enter a delimiter other than a quote or a line break.');
  if (fields.length === 0) throw invalidConfig('Enter the columns to write.');
  return createDelimitedEncoding(gzip, delimiter.replaceAll('\\t', '\t'), fields);
}
