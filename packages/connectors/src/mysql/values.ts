import type { JsonValue } from '@connector-frame/engine/connector-api';
import mysql, { type FieldPacket } from 'mysql2';
import { parseExact } from '../_shared/exact-json.js';
import type { SqlValue } from '../_shared/sql/session.js';
import { toUtc } from '../_shared/sql/utc.js';
import type { OutputColumn } from '../_shared/sql/table-output.js';

// Node.js does not see this name among the exports of a CommonJS module.
const { Types } = mysql;

const numeric = new Set<number | undefined>([
  Types.TINY,
  Types.SHORT,
  Types.INT24,
  Types.LONG,
  Types.LONGLONG,
  Types.DECIMAL,
  Types.NEWDECIMAL,
]);

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
  if (type === Types.JSON || field.extendedFormat === 'json' || numeric.has(type)) return parsed(value);
  if (type === Types.TIMESTAMP) return value.startsWith('0000') ? value : `${value.replace(' ', 'T')}+00:00`;
  if (type === Types.DATETIME) return value.startsWith('0000') ? value : value.replace(' ', 'T');
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
