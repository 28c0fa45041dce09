import type { JsonValue } from '../connector-api/record.js';
import type { MutatedType } from './operation.js';
import { TransformRejection } from './transform-rejection.js';

type Convert = (value: JsonValue) => JsonValue | undefined;

const isWhole = (number: number): boolean => Number.isSafeInteger(number);

const toNumber: Convert = (value) => {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string' || !/^\s*[-+]?\d+(\.\d+)?([eE][-+]?\d+)?\s*$/.test(value.slice(0, 400)))
    return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
};

const converters: Record<MutatedType, Convert> = {
  string: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  // A number that a double can't represent exactly would change its value.
  int: (value) => {
    const number = toNumber(value);
    const whole = typeof number === 'number' ? Math.trunc(number) : Number.NaN;
    return isWhole(whole) ? whole : undefined;
  },
  float: toNumber,
  bool: (value) => {
    if (typeof value === 'boolean') return value;
    if (value === 1 || value === 0) return value === 1;
    const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
    if (['true', 'yes', 'on', '1'].includes(word)) return true;
    return ['false', 'no', 'off', '0'].includes(word) ? false : undefined;
  },
  json: (value) => {
    if (typeof value !== 'string') return value;
    try {
      const parsed: JsonValue = JSON.parse(value);
      return parsed;
    } catch {
      return undefined;
    }
  },
};

/**
 * Converts a value to another type. `null` stays `null`.
 * @throws {TransformRejection} if it can't be converted
 */
export function mutateType(value: JsonValue, type: MutatedType, key: string): JsonValue {
  if (value === null) return null;
  const converted = converters[type](value);
  if (converted === undefined) throw new TransformRejection('not_convertible', `The value of ${key} is no ${type}.`);
  return converted;
}
