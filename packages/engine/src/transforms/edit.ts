import { valueAt, type KeyPath } from '../connector-api/key-path.js';
import { isRecord, type DataRecord, type JsonValue } from '../connector-api/record.js';
import { TransformRejection } from './transform-rejection.js';

/**
 * Returns a copy of a record with `value` at a path; everything off the path is shared with the
 * original. Missing objects are created; an array index must exist or be the one after the last.
 * @throws {TransformRejection} if a value on the path is neither an object nor an array
 */
export function withValue(record: DataRecord, path: KeyPath, value: JsonValue): DataRecord {
  const [key = '', ...rest] = path;
  const copy = new Map(Object.entries(record));
  copy.set(key, rest.length === 0 ? value : within(copy.get(key), rest, value));
  // Avoids assignment: a key `__proto__` must be treated like any other.
  return Object.fromEntries(copy);
}

/**
 * Returns a copy of a record with `values` set in the object at a path, which is copied only once;
 * with an empty path, in the record itself.
 * @throws {TransformRejection} as `withValue` does
 */
export function withValues(
  record: DataRecord,
  path: KeyPath,
  values: ReadonlyMap<string, JsonValue | undefined>,
): DataRecord {
  const given = [...values].flatMap(([key, value]): [string, JsonValue][] =>
    value === undefined ? [] : [[key, value]],
  );
  if (path.length === 0) return Object.fromEntries([...Object.entries(record), ...given]);
  const parent = valueAt(record, path);
  if (isRecord(parent)) return withValue(record, path, withValues(parent, [], values));
  return given.reduce((changed, [key, value]) => withValue(changed, [...path, key], value), record);
}

function within(parent: JsonValue | undefined, path: KeyPath, value: JsonValue): JsonValue {
  if (parent === undefined || parent === null) return withValue({}, path, value);
  if (Array.isArray(parent)) {
    const list: JsonValue[] = parent.slice();
    const [key = '', ...rest] = path;
    const index = /^\d{1,9}$/.test(key) ? Number(key) : Number.NaN;
    if (!(index <= list.length)) throw new TransformRejection('not_an_object', `A list has no place ${key}.`);
    list[index] = rest.length === 0 ? value : within(list[index], rest, value);
    return list;
  }
  if (isRecord(parent)) return withValue(parent, path, value);
  throw new TransformRejection('not_an_object', `Nothing can be put at ${path.join('.')}: what holds it is no object.`);
}

/**
 * Returns a copy of a record without the value at a path. Array elements after a removed one shift
 * down.
 */
export function withoutValue(record: DataRecord, path: KeyPath): DataRecord {
  const [key = '', ...rest] = path;
  if (!Object.hasOwn(record, key)) return record;
  const copy = new Map(Object.entries(record));
  if (rest.length === 0) copy.delete(key);
  else copy.set(key, withoutWithin(copy.get(key), rest));
  return Object.fromEntries(copy);
}

function withoutWithin(parent: JsonValue | undefined, path: KeyPath): JsonValue | undefined {
  if (Array.isArray(parent)) {
    const [key = '', ...rest] = path;
    const index = /^\d{1,9}$/.test(key) ? Number(key) : Number.NaN;
    if (!(index < parent.length)) return parent;
    const list: JsonValue[] = parent.slice();
    if (rest.length === 0) list.splice(index, 1);
    else list[index] = withoutWithin(list[index], rest) ?? null;
    return list;
  }
  return isRecord(parent) ? withoutValue(parent, path) : parent;
}
