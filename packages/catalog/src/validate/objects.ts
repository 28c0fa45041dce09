/** Reading plain data without ever touching a prototype. */

const REFUSED = new Set(['__proto__', 'constructor', 'prototype']);

export type Plain = Record<string, unknown>;

export const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a key may be read or written at all. */
export const isSafeKey = (key: string): boolean => !REFUSED.has(key);

const isObject = (value: unknown): value is Plain => typeof value === 'object' && value !== null;

/** An own property, or undefined. */
export const own = (value: unknown, key: string): unknown =>
  isSafeKey(key) && isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/**
 * What a person left out: nothing, blank text, a list or object with nothing in it. A tab counts as text, it separates columns.
 * What is nested deeper than any field counts as something.
 */
export const isEmpty = (value: unknown, depth = 9): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string'
    ? !/[^ \r\n]/.test(value)
    : isObject(value) && depth > 0 && Object.values(value).every((inner) => isEmpty(inner, depth - 1)));
