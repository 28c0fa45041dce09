import { isRecord, type JsonValue } from '../connector-api/record.js';

/**
 * Returns whether two JSON values are the same. As in conditions, a number or boolean equals its
 * string form, because configurations hold strings where records hold numbers. The order of an
 * object's keys doesn't matter.
 */
export function isSameValue(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one: JsonValue, index) => isSameValue(one, b[index]));
  if (isRecord(a) && isRecord(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSameValue(a[key], b[key]))
    );
  }
  return isScalar(a) && isScalar(b) && String(a) === String(b);
}

const isScalar = (value: JsonValue | undefined): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
