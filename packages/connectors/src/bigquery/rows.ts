import { isRecord, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { parseExact } from '../_shared/exact-json.js';

/** A column of a result. https://cloud.google.com/bigquery/docs/reference/rest/v2/tables#TableFieldSchema */
export interface Column {
  name: string;
  type: string;
  /** `REPEATED`: an array. */
  mode: string;
  fields: readonly Column[];
}

/** Parses the schema of a result; `undefined` if it is malformed. */
export function readColumns(fields: unknown): Column[] | undefined {
  if (!Array.isArray(fields)) return undefined;
  const columns: Column[] = [];
  for (const field of fields as unknown[]) {
    if (!isRecord(field) || typeof field['name'] !== 'string' || typeof field['type'] !== 'string') return undefined;
    const inner = field['fields'] === undefined ? [] : readColumns(field['fields']);
    if (!inner) return undefined;
    const mode = typeof field['mode'] === 'string' ? field['mode'] : 'NULLABLE';
    columns.push({ name: field['name'], type: field['type'], mode, fields: inner });
  }
  return columns;
}

/** Converts a row, `{ f: [{ v }] }`, to a record. */
export function toRecord(columns: readonly Column[], row: unknown): DataRecord {
  const cells: readonly unknown[] = isRecord(row) && Array.isArray(row['f']) ? row['f'] : [];
  return Object.fromEntries(columns.map((column, index) => [column.name, valueOf(column, cells[index])]));
}

/** Converts a cell, `{ v }`. */
function valueOf(column: Column, cell: unknown): JsonValue {
  const value = isRecord(cell) ? (cell['v'] ?? null) : null;
  if (column.mode === 'REPEATED')
    return Array.isArray(value) ? value.map((item) => valueOf({ ...column, mode: 'NULLABLE' }, item)) : [];
  if (value === null) return null;
  if (column.type === 'RECORD' || column.type === 'STRUCT') return toRecord(column.fields, value);
  return typeof value === 'string' ? scalarOf(column.type, value) : value;
}

function scalarOf(type: string, text: string): JsonValue {
  switch (type) {
    case 'INTEGER':
    case 'INT64':
    case 'FLOAT':
    case 'FLOAT64':
    case 'NUMERIC':
    case 'BIGNUMERIC':
      return numberOf(text);
    case 'BOOLEAN':
    case 'BOOL':
      return text === 'true';
    case 'TIMESTAMP':
      return timeOf(text);
    case 'JSON':
      return documentOf(text);
    default:
      return text;
  }
}

/** Returns a number that a double represents exactly; other text as it is, such as `NaN`. */
function numberOf(text: string): JsonValue {
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return text;
  const parsed = documentOf(text);
  return typeof parsed === 'number' ? parsed : text;
}

/** Returns a time in microseconds since the epoch as RFC 3339. */
function timeOf(text: string): JsonValue {
  if (!/^-?\d{1,18}$/.test(text)) return text;
  const micros = BigInt(text);
  const within = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((micros - within) / 1_000n)).toISOString().slice(0, -5);
  return `${seconds}.${String(within).padStart(6, '0')}Z`;
}

function documentOf(text: string): JsonValue {
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}
