import { invalidConfig } from '../../output/send.js';
import type { SchemaElement } from './parquet-columns.js';

const types: Readonly<Record<string, SchemaElement['type']>> = {
  boolean: 'BOOLEAN',
  int32: 'INT32',
  int64: 'INT64',
  float: 'FLOAT',
  double: 'DOUBLE',
  binary: 'BYTE_ARRAY',
  byte_array: 'BYTE_ARRAY',
};

/** Annotations, each with the physical type it requires. */
const annotations: Readonly<Record<string, [SchemaElement['type'], SchemaElement['converted_type']]>> = {
  STRING: ['BYTE_ARRAY', 'UTF8'],
  UTF8: ['BYTE_ARRAY', 'UTF8'],
  ENUM: ['BYTE_ARRAY', 'ENUM'],
  JSON: ['BYTE_ARRAY', 'JSON'],
  DATE: ['INT32', 'DATE'],
  INT_32: ['INT32', 'INT_32'],
  INT_64: ['INT64', 'INT_64'],
  TIMESTAMP_MILLIS: ['INT64', 'TIMESTAMP_MILLIS'],
  'TIMESTAMP(MILLIS,TRUE)': ['INT64', 'TIMESTAMP_MILLIS'],
  TIMESTAMP_MICROS: ['INT64', 'TIMESTAMP_MICROS'],
  'TIMESTAMP(MICROS,TRUE)': ['INT64', 'TIMESTAMP_MICROS'],
};

const FIELD = /^(required|optional)\s+(\w+)\s+([^\s();={}]+)\s*(?:\(\s*(\w+(?:\s*\([^()]*\))?)\s*\))?\s*(?:=\s*\d+)?$/i;

/**
 * Parses the columns of a Parquet message: `message event { required binary time (STRING); optional
 * int64 count; }`. Supports flat columns only; nested values can be stored as `binary (JSON)`.
 * https://github.com/apache/parquet-java/blob/master/parquet-column/src/main/java/org/apache/parquet/schema/MessageTypeParser.java
 * @throws ConnectorError `invalid_config`, permanent
 */
export function parseMessage(text: string): SchemaElement[] {
  const body = /^\s*message\s+[^\s{]+\s*\{([^]*)\}\s*$/i.exec(text)?.[1];
  if (body === undefined)
    throw invalidConfig('The Parquet schema must read like: message event { optional binary time (STRING); }');
  if (/[{}]|\b(?:repeated|group)\b/i.test(body))
    throw invalidConfig('The Parquet schema may contain flat columns only: declare nested values as binary (JSON).');
  const fields = body
    .split(';')
    .map((field) => field.trim())
    .filter((field) => field !== '')
    .map(parseField);
  const names = new Set(fields.map(({ name }) => name));
  if (fields.length === 0) throw invalidConfig('The Parquet schema has no column.');
  if (names.size < fields.length) throw invalidConfig('The Parquet schema has two columns with the same name.');
  return fields;
}

function parseField(text: string): SchemaElement {
  const [, repetition = '', written = '', name = '', annotation] = FIELD.exec(text) ?? [];
  const type = types[written.toLowerCase()];
  const [base, converted] = annotations[annotation?.replace(/\s/g, '').toUpperCase() ?? ''] ?? [];
  if (type === undefined || (annotation !== undefined && base !== type))
    throw invalidConfig('A column of the Parquet schema has an unsupported type.');
  return {
    name,
    type,
    repetition_type: repetition.toLowerCase() === 'required' ? 'REQUIRED' : 'OPTIONAL',
    ...(converted && { converted_type: converted }),
  };
}
