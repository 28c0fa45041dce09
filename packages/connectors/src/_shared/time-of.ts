import type { JsonValue } from '@connector-frame/engine/connector-api';

const RFC3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9})\d*)?\s*([Zz]|[+-]\d\d:?\d\d)?$/;
const NUMBER = /^(\d{1,19})(?:\.(\d{1,9})\d*)?$/;
/** Digits of a whole number from which it counts in milliseconds, microseconds and nanoseconds. */
const SCALES = [
  [17, 1n],
  [14, 1_000n],
  [11, 1_000_000n],
  [0, 1_000_000_000n],
] as const;

/**
 * Converts a time in a record to nanoseconds since the epoch: RFC 3339 (without an offset, in UTC),
 * or a number of seconds, milliseconds, microseconds or nanoseconds, distinguished by its size.
 *
 * @returns `undefined` if it is not a time after 1970
 */
export function nanosOf(value: JsonValue | undefined): bigint | undefined {
  const text = typeof value === 'number' ? decimal(value) : typeof value === 'string' ? value.trim() : '';
  const number = NUMBER.exec(text);
  if (number) {
    const [, whole = '', fraction = ''] = number;
    const [, scale] = SCALES.find(([digits]) => whole.length >= digits) ?? SCALES[3];
    return BigInt(whole) * scale + (BigInt(fraction.padEnd(9, '0')) * scale) / 1_000_000_000n;
  }
  const [, date, time, fraction = '', zone = 'Z'] = RFC3339.exec(text) ?? [];
  const ms = date === undefined ? Number.NaN : Date.parse(`${date}T${time ?? ''}${zone.toUpperCase()}`);
  if (Number.isNaN(ms) || ms < 0) return undefined;
  return BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

/** Avoids an exponent. */
const decimal = (value: number): string => (Number.isSafeInteger(value) ? String(value) : value.toFixed(9));
