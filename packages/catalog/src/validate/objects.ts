/** Helpers that read plain data without touching a prototype. */

const REFUSED = new Set(['__proto__', 'constructor', 'prototype']);

export type Plain = Record<string, unknown>;

export const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns whether a key may be read or written. */
export const isSafeKey = (key: string): boolean => !REFUSED.has(key);

const isObject = (value: unknown): value is Plain => typeof value === 'object' && value !== null;

/** Returns an own property, or undefined. */
export const own = (value: unknown, key: string): unknown =>
  isSafeKey(key) && isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/**
 * Returns whether a value counts as not filled in: undefined, null, blank text, or a list or object
 * that contains only empty values. A tab is not blank, because it can be a column separator. Values
 * nested deeper than any field count as not empty.
 */
export const isEmpty = (value: unknown, depth = 9): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string'
    ? !/[^ \r\n]/.test(value)
    : isObject(value) && depth > 0 && Object.values(value).every((inner) => isEmpty(inner, depth - 1)));
