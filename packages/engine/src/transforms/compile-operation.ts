import { parseKeyPath, valueAt, type KeyPath } from '../connector-api/key-path.js';
import type { DataRecord, JsonValue } from '../connector-api/record.js';
import { withoutValue, withValue, withValues } from './edit.js';
import { flattenRecord, leavesOf } from './flatten.js';
import { mutateType } from './mutate-type.js';
import type { RecordOperation, TimestampFormat } from './operation.js';

/**
 * Returns a modified copy of a record.
 * @param now milliseconds since the epoch
 * @throws {TransformRejection} if an operation can't be applied to this record
 */
export type Transform = (record: DataRecord, now: number) => DataRecord;

/** Compiles one operation to a function of a record. */
export function compileOperation(operation: RecordOperation): Transform {
  if (operation.operation === 'rename_key') {
    const { key, new_key: newKey } = operation.arguments;
    return rename(pathOf(key), pathOf(newKey));
  }
  if (operation.operation === 'drop_key') {
    const path = pathOf(operation.arguments.key);
    return (record) => withoutValue(record, path);
  }
  if (operation.operation === 'add') {
    const { key, value } = operation.arguments;
    const path = pathOf(key);
    return (record) => withValue(record, path, value);
  }
  if (operation.operation === 'flatten') {
    const { key, base, delimiter = '_' } = operation.arguments;
    return key === undefined ? (record) => flattenRecord(record, delimiter) : flattenAt(pathOf(key), base, delimiter);
  }
  if (operation.operation === 'mutate_type') {
    const { key, type } = operation.arguments;
    const path = pathOf(key);
    return (record) => {
      const value = valueAt(record, path);
      return value === undefined ? record : withValue(record, path, mutateType(value, type, key));
    };
  }
  // An operation stored by a later release may be unknown.
  if (operation.operation !== 'timestamp') throw new TypeError('This operation is not known.');
  const { key, format = 'rfc3339' } = operation.arguments;
  const path = pathOf(key);
  return (record, now) => withValue(record, path, formats[format](now));
}

const pathOf = (key: string): KeyPath => parseKeyPath(key) ?? [key];

function rename(from: KeyPath, to: KeyPath): Transform {
  if (from.join('\0') === to.join('\0')) return (record) => record;
  return (record) => {
    const value = valueAt(record, from);
    return value === undefined ? record : withValue(withoutValue(record, from), to, value);
  };
}

function flattenAt(path: KeyPath, base: string | undefined, delimiter: string): Transform {
  const last = base ?? path.at(-1) ?? '';
  const holder = path.slice(0, -1);
  return (record) => {
    const value = valueAt(record, path);
    if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return record;
    return withValues(withoutValue(record, path), holder, leavesOf(last, value, delimiter));
  };
}

const formats: Record<TimestampFormat, (now: number) => JsonValue> = {
  rfc3339: (now) => new Date(now).toISOString().replace(/\.\d+Z$/, 'Z'),
  iso8601: (now) => new Date(now).toISOString(),
  unix: (now) => Math.floor(now / 1000),
  unix_milli: (now) => now,
  // A string: the number would exceed the precision of a double.
  unix_nano: (now) => `${now}000000`,
};
