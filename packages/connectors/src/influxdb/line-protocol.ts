import { createHash } from 'node:crypto';
import {
  isRecord,
  valueAt,
  type DataRecord,
  type JsonValue,
  type KeyPath,
} from '@connector-frame/engine/connector-api';
import { nanosOf } from '../_shared/time-of.js';

/** What of a record becomes what of a point. */
export interface PointFields {
  measurement: string;
  tags: readonly { name: string; path: KeyPath }[];
  /** Becomes the field `message`. */
  message: KeyPath | undefined;
  /** Becomes the tag `source_type`. */
  source: KeyPath | undefined;
}

/** Where records usually have their time. */
const TIMES = [['timestamp'], ['@timestamp']];
const MS = 1_000_000n;

/**
 * Returns a record as a line: its tags, and everything else as fields, with the keys of nested objects
 * joined by dots. https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/
 *
 * @param id ID of the record
 * @param receivedMs for a record without a time
 */
export function toLine(
  record: DataRecord,
  point: PointFields,
  id: string,
  receivedMs: number,
): string | { reason: string } {
  const tags = new Map<string, string>();
  for (const { name, path } of point.tags) addTag(tags, name, valueAt(record, path));
  if (point.source) addTag(tags, 'source_type', valueAt(record, point.source));
  const used = [...point.tags.map(({ path }) => path), point.message, point.source].flatMap((path) =>
    path ? [JSON.stringify(path)] : [],
  );
  const fields = new Map<string, string>();
  flatten(record, [], (path, value) => {
    if (!used.includes(JSON.stringify(path))) fields.set(path.join('.'), fieldValue(value));
  });
  const message = point.message && valueAt(record, point.message);
  if (message !== undefined && message !== null) fields.set('message', fieldValue(message));
  if (fields.size === 0) return { reason: 'no_fields' };
  const head = [escape(point.measurement, /[, ]/g), ...pairs(tags, (text) => escape(text, /[,= ]/g))].join(',');
  return `${head} ${pairs(fields, (text) => text).join(',')} ${timeOf(record, id, receivedMs)}`;
}

function addTag(tags: Map<string, string>, name: string, value: JsonValue | undefined): void {
  const text =
    value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  // A backslash at the end would escape what follows.
  const clean = text.replaceAll(/[\r\n]+/g, ' ').replace(/\\+$/, '');
  if (clean !== '') tags.set(name, clean);
}

function flatten(value: DataRecord, path: readonly string[], add: (path: string[], value: JsonValue) => void): void {
  for (const [key, each] of Object.entries(value)) {
    const inner = [...path, key];
    if (isRecord(each)) flatten(each, inner, add);
    else if (each !== null && each !== undefined) add(inner, each);
  }
}

/** Numbers are floats: the type of a field is decided by its first value. */
function fieldValue(value: JsonValue): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`;
}

const pairs = (values: ReadonlyMap<string, string>, encode: (text: string) => string): string[] =>
  [...values]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${escape(key.replaceAll(/[\r\n]+/g, ' ').replace(/\\+$/, ''), /[,= ]/g)}=${encode(value)}`);

const escape = (text: string, characters: RegExp): string =>
  text.replaceAll(characters, (character) => `\\${character}`);

/**
 * Returns the time of a point in nanoseconds. Points of a series with the same time replace each
 * other, so a time without fractions of a millisecond gets one that depends on the record.
 */
function timeOf(record: DataRecord, id: string, receivedMs: number): bigint {
  const own = TIMES.map((path) => nanosOf(valueAt(record, path))).find((nanos) => nanos !== undefined);
  const nanos = own ?? BigInt(Math.floor(receivedMs)) * MS;
  return nanos % MS === 0n ? nanos + fractionOf(id) : nanos;
}

/** IDs of a batch end with the number of the record: those get consecutive fractions. */
function fractionOf(id: string): bigint {
  const [, batch = id, number = '0'] = /^(.*)\.(\d{1,6})$/.exec(id) ?? [];
  const start = createHash('sha256').update(batch).digest().readUInt32BE();
  return BigInt((start + Number(number)) % Number(MS));
}
