import type { JsonValue } from '@connector-frame/engine/connector-api';
import type { FieldPacket } from 'mysql2';
import { parseExact } from '../_shared/exact-json.js';
import type { SqlValue } from '../_shared/sql/session.js';
import { toUtc } from '../_shared/sql/utc.js';
import type { OutputColumn } from '../_shared/sql/table-output.js';

/** Column types: https://dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html */
const TIMESTAMP = 7;
const DATETIME = 12;
const JSON_TYPE = 245;
/** DECIMAL, TINY, SHORT, LONG, LONGLONG, INT24, and NEWDECIMAL. */
const NUMERIC = new Set<number | undefined>([0, 1, 2, 3, 8, 9, 246]);

/**
 * Converts a value to JSON: numbers that a double can't represent become strings, times ISO 8601, and
 * bytes hexadecimal with `0x`.
 */
export function toJson(value: unknown, field: FieldPacket & { extendedFormat?: unknown }): JsonValue {
  const { columnType: type } = field;
  if (value === null || value === undefined) return null;
  if (Buffer.isBuffer(value)) return `0x${value.toString('hex')}`;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'string') return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
  // JSON columns of MariaDB are texts with a note.
  if (type === JSON_TYPE || field.extendedFormat === 'json' || NUMERIC.has(type)) return parsed(value);
  if (type === TIMESTAMP) return value.startsWith('0000') ? value : `${value.replace(' ', 'T')}+00:00`;
  if (type === DATETIME) return value.startsWith('0000') ? value : value.replace(' ', 'T');
  return value;
}

function parsed(text: string): JsonValue {
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

/**
 * Converts a field to a parameter. MySQL knows no `Z` or offset of a time: it is converted to UTC, the
 * session's time zone.
 */
export function toParameter(value: JsonValue, { type }: OutputColumn): SqlValue {
  if (value === null) return null;
  if (typeof value === 'boolean')
    return /^(?:json|char|varchar|.*text)$/.test(type) ? String(value) : value ? '1' : '0';
  if (typeof value === 'object') return JSON.stringify(value);
  if (type === 'json') return JSON.stringify(value);
  if (typeof value === 'number') return String(value);
  return /^(?:datetime|timestamp|date|time)$/.test(type) ? toUtc(value, ' ', 6) : value;
}
