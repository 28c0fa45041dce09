import type { JsonValue } from './record.js';

/**
 * Returns the key that a value is stored and looked up by, or `undefined` if it is none. Integers
 * beyond 2^53 are none: parsing rounds them, so that two of them could have the same text.
 */
export function lookupKey(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number') return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}
