import { createHash } from 'node:crypto';
import { parseKeyPath, valueAt, type KeyPath } from '../../connector-api/key-path.js';
import type { DataRecord, JsonValue } from '../../connector-api/record.js';
import { withoutValue, withValue, withValues } from '../edit.js';
import { flattenRecord, leavesOf } from '../flatten.js';
import { mutateType } from '../mutate-type.js';
import {
  MUTATED_TYPES,
  TIMESTAMP_FORMATS,
  type RecordContext,
  type TimestampFormat,
  type Transform,
} from '../operation.js';
import { defineOperation } from '../operation-type.js';
import { TransformRejection } from '../transform-rejection.js';

const pathOf = (key: string): KeyPath => parseKeyPath(key) ?? [key];
const KEY = { kind: 'key', required: true, description: 'Path of the key, such as actor.email.' } as const;
const DELIMITER = {
  kind: 'text',
  maxLength: 10,
  default: '_',
  description: 'Joins the parts of the new keys.',
} as const;

const flatten = defineOperation({
  id: 'flatten',
  name: 'Flatten',
  description:
    'Replaces the object or array at a key by keys next to it: user.name becomes user_name, ids.0 becomes ids_0. Empty objects and arrays are unchanged.',
  arguments: {
    key: { kind: 'key', description: 'Path of the key. Absent: the whole record.' },
    base: { kind: 'text', minLength: 1, description: 'Prefix of the new keys. Default: the last part of the key.' },
    delimiter: DELIMITER,
  },
  compile: ({ key, base, delimiter }) =>
    key === undefined ? (record) => flattenRecord(record, delimiter) : flattenAt(pathOf(key), base, delimiter),
});

const flattenall = defineOperation({
  id: 'flattenall',
  aliases: ['flatten_all'],
  name: 'Flatten all',
  description: 'Replaces all objects and arrays of the record by keys at the top: a.b.0 becomes a_b_0.',
  arguments: { delimiter: DELIMITER },
  compile:
    ({ delimiter }) =>
    (record) =>
      flattenRecord(record, delimiter),
});

function flattenAt(path: KeyPath, base: string | undefined, delimiter: string): Transform {
  const last = base ?? path.at(-1) ?? '';
  const holder = path.slice(0, -1);
  return (record: DataRecord) => {
    const value = valueAt(record, path);
    if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return record;
    return withValues(withoutValue(record, path), holder, leavesOf(last, value, delimiter));
  };
}

const mutateTypeOperation = defineOperation({
  id: 'mutate_type',
  name: 'Change type',
  description: "Converts a value to another type. Null stays null; a value that can't be converted rejects the record.",
  arguments: { key: KEY, type: { kind: 'word', words: MUTATED_TYPES, required: true, description: 'The new type.' } },
  compile: ({ key, type }) => {
    const path = pathOf(key);
    return (record) => {
      const value = valueAt(record, path);
      return value === undefined ? record : withValue(record, path, mutateType(value, type, key));
    };
  },
});

const mathMultiplyWithValue = defineOperation({
  id: 'math_multiply_with_value',
  name: 'Multiply',
  description: 'Multiplies the number at a key. A value that is no number rejects the record; null stays null.',
  arguments: {
    key: KEY,
    new_key: { kind: 'key', description: 'Path of the product. Absent: it replaces the number.' },
    value: { kind: 'value', required: true, description: 'The factor: a number, also as a string.' },
  },
  check: ({ value }, problems) => {
    if (numberOf(value) === undefined) problems.at('arguments', 'value').add('type', 'It is a number.');
  },
  compile: ({ key, new_key: newKey, value }) => {
    const from = pathOf(key);
    const to = newKey === undefined ? from : pathOf(newKey);
    const factor = numberOf(value) ?? 1;
    return (record) => {
      const current = valueAt(record, from);
      if (current === undefined) return record;
      return withValue(record, to, current === null ? null : product(current, factor, key));
    };
  },
});

function product(value: JsonValue, factor: number, key: string): number {
  const result = (numberOf(value) ?? Number.NaN) * factor;
  if (Number.isFinite(result)) return result;
  throw new TransformRejection('not_convertible', `The value of ${key} can't be multiplied.`);
}

/** Does not count booleans as numbers. */
function numberOf(value: JsonValue): number | undefined {
  if (typeof value === 'boolean' || value === null) return undefined;
  try {
    const number = mutateType(value, 'float', '');
    return typeof number === 'number' ? number : undefined;
  } catch {
    return undefined;
  }
}

const utcTimestamp = defineOperation({
  id: 'utc_timestamp',
  aliases: ['timestamp'],
  name: 'UTC timestamp',
  description: 'Sets the time at which the record is processed.',
  arguments: {
    key: KEY,
    format: { kind: 'word', words: TIMESTAMP_FORMATS, default: 'rfc3339', description: 'Format of the time.' },
  },
  compile: ({ key, format }) => {
    const path = pathOf(key);
    return (record, { now }) => withValue(record, path, formats[format](now));
  },
});

const formats: Record<TimestampFormat, (now: number) => JsonValue> = {
  rfc3339: (now) => new Date(now).toISOString().replace(/\.\d+Z$/, 'Z'),
  iso8601: (now) => new Date(now).toISOString(),
  unix: (now) => Math.floor(now / 1000),
  unix_milli: (now) => now,
  // A string: the number would exceed the precision of a double.
  unix_nano: (now) => `${now}000000`,
};

const ID_TYPES = ['uuid', 'uuidv4', 'uuidv7', 'ulid'] as const;

const addId = defineOperation({
  id: 'add_id',
  name: 'Add ID',
  description:
    'Sets a unique ID. A record that is delivered again, or to several outputs, gets the same uuid; uuidv7 and ulid begin with the time of processing.',
  arguments: {
    key: KEY,
    type: { kind: 'word', words: ID_TYPES, default: 'uuid', description: 'Format of the ID. uuid is uuidv4.' },
  },
  compile: ({ key, type }) => {
    const path = pathOf(key);
    return (record, context) => withValue(record, path, newId(type, key, context));
  },
});

/** The id of a record can't be guessed: it contains a hash of its batch. */
function newId(type: (typeof ID_TYPES)[number], key: string, { now, recordId }: RecordContext): string {
  const bytes = createHash('sha256').update(`${key}\0${recordId}`).digest().subarray(0, 16);
  if (type === 'uuidv7' || type === 'ulid') bytes.writeUIntBE(now, 0, 6);
  return type === 'ulid' ? ulid(bytes) : uuid(bytes, type === 'uuidv7' ? 7 : 4);
}

function uuid(bytes: Buffer, version: number): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function ulid(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let at = 0; at < 26; at += 1) {
    text = `${CROCKFORD[Number(rest & 31n)] ?? ''}${text}`;
    rest >>= 5n;
  }
  return text;
}

export const valueOperations = [addId, flatten, flattenall, mathMultiplyWithValue, mutateTypeOperation, utcTimestamp];
