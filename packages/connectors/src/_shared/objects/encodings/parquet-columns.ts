import type { ParquetWriteOptions } from 'hyparquet-writer';
import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';
import { textOf, valueAt } from './text.js';

export type SchemaElement = NonNullable<ParquetWriteOptions['schema']>[number];
export type Cell = JsonValue | bigint | Date;

/** A column of a Parquet file. */
export interface Column {
  element: SchemaElement;
  /**
   * Returns the value for a record: `null` if there is none, `undefined` if a required column has
   * no valid value.
   */
  cell(record: DataRecord): Cell | undefined;
}

/** Maximum number of inferred columns; further keys are combined in `_other`. */
const MAX_COLUMNS = 500;
const OTHER = '_other';

type Kind = 'boolean' | 'integer' | 'number' | 'text' | 'json';

/**
 * Infers a column for each top-level key, in order of first appearance. Its type is BOOLEAN, INT64,
 * DOUBLE or text if all values in the file are of that kind, otherwise JSON text, which also
 * represents nested values. A key that is always null becomes text.
 */
export function columnsOf(records: readonly DataRecord[]): Column[] {
  const kinds = new Map<string, Kind | undefined>();
  const beyond = new Set<string>();
  for (const record of records) {
    for (const [key, value] of Object.entries(record)) {
      if (!kinds.has(key) && (kinds.size === MAX_COLUMNS || key === OTHER)) beyond.add(key);
      else kinds.set(key, common(kinds.get(key), kindOf(value)));
    }
  }
  const columns = [...kinds].map(([key, kind]) => column(key, kind ?? 'text', (record) => own(record, key)));
  // A Parquet file needs at least one column.
  if (beyond.size > 0 || columns.length === 0)
    columns.push(
      column(OTHER, 'json', (record) => {
        const rest = Object.entries(record).filter(([key]) => beyond.has(key));
        return rest.length === 0 && columns.length > 1 ? null : Object.fromEntries(rest);
      }),
    );
  return columns;
}

const own = (record: DataRecord, key: string): JsonValue => (Object.hasOwn(record, key) ? (record[key] ?? null) : null);

function kindOf(value: JsonValue | undefined): Kind | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' ? 'text' : 'json';
}

function common(before: Kind | undefined, now: Kind | undefined): Kind | undefined {
  if (before === undefined || now === undefined || before === now) return before ?? now;
  const numbers: Kind[] = ['integer', 'number'];
  return numbers.includes(before) && numbers.includes(now) ? 'number' : 'json';
}

const physical: Readonly<Record<Kind, Omit<SchemaElement, 'name'>>> = {
  boolean: { type: 'BOOLEAN' },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'JSON' },
};

function column(name: string, kind: Kind, valueOf: (record: DataRecord) => JsonValue): Column {
  return {
    element: { name, repetition_type: 'OPTIONAL', ...physical[kind] },
    cell: (record) => {
      const value = valueOf(record);
      return kind === 'integer' && typeof value === 'number' ? BigInt(value) : value;
    },
  };
}

/**
 * Conversions of record values to declared column types. A column's annotation takes precedence
 * over its type.
 */
const conversions: Readonly<Record<string, (value: JsonValue) => Cell | undefined>> = {
  BOOLEAN: (value) =>
    typeof value === 'boolean' ? value : value === 'true' ? true : value === 'false' ? false : undefined,
  INT32: (value) => {
    const number = numberOf(value);
    return number !== undefined && Number.isInteger(number) && Math.abs(number) < 2 ** 31 ? number : undefined;
  },
  INT64: (value) => {
    if (typeof value === 'string' && /^-?\d{1,18}$/.test(value)) return BigInt(value);
    const number = numberOf(value);
    return number !== undefined && Number.isSafeInteger(number) ? BigInt(number) : undefined;
  },
  FLOAT: (value) => numberOf(value),
  DOUBLE: (value) => numberOf(value),
  BYTE_ARRAY: (value) => textOf(value),
  JSON: (value) => value,
  DATE: (value) => timeOf(value),
  TIMESTAMP_MILLIS: (value) => timeOf(value),
  TIMESTAMP_MICROS: (value) => timeOf(value),
};

/** Creates a declared column. `element.name` is a key of the record, or a path. */
export function declaredColumn(element: SchemaElement): Column {
  const { name, type, converted_type: annotation, repetition_type: repetition } = element;
  const convert = conversions[annotation ?? ''] ?? conversions[type ?? ''];
  return {
    element,
    cell(record) {
      const value = valueAt(record, name);
      if (value === undefined || value === null) return repetition === 'REQUIRED' ? undefined : null;
      return convert?.(value) ?? (repetition === 'REQUIRED' ? undefined : null);
    },
  };
}

function numberOf(value: JsonValue): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Parses RFC 3339, or seconds or milliseconds since the epoch, distinguished by magnitude. */
function timeOf(value: JsonValue): Date | undefined {
  const number = numberOf(value);
  const at =
    number === undefined
      ? typeof value === 'string'
        ? Date.parse(value)
        : Number.NaN
      : number < 1e11
        ? number * 1_000
        : number;
  return Number.isNaN(at) || Math.abs(at) > 8.64e15 ? undefined : new Date(Math.floor(at));
}
