import { BodyError, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';

/**
 * Maximum nesting depth of a value. Together with the levels around it, a record stays within the
 * depth that other inputs allow.
 */
export const MAX_DEPTH = 90;

/**
 * A decoded log record. Records of the same resource or scope share one `resource` or `scope`
 * object.
 */
export interface Log {
  fields: DataRecord;
  resource: DataRecord | undefined;
  scope: DataRecord | undefined;
}

export const tooDeep = (): BodyError => new BodyError(400, 'A value in this request is nested too deep.');

const LAST_NANO = 2n ** 64n - 1n;

/**
 * Formats nanoseconds since the epoch as RFC 3339 in UTC.
 *
 * @returns `undefined` for 0, which OTLP uses for an unknown time
 * @throws BodyError
 */
export function moment(nanos: bigint): string | undefined {
  if (nanos < 0n || nanos > LAST_NANO)
    throw new BodyError(400, 'A time in this request is not a count of nanoseconds since 1970.');
  if (nanos === 0n) return undefined;
  const seconds = new Date(Number(nanos / 1_000_000_000n) * 1_000).toISOString().slice(0, 19);
  const fraction = String(nanos % 1_000_000_000n).padStart(9, '0');
  return `${seconds}.${fraction.endsWith('000000') ? fraction.slice(0, 3) : fraction}Z`;
}

/**
 * Converts an integer to a number, or to a string if a double can't hold it. OTLP's JSON encoding
 * writes all 64-bit integers as strings.
 */
export function wholeNumber(digits: bigint): JsonValue {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : String(digits);
}

/**
 * Converts numbers that JSON lacks to the strings of OTLP's JSON encoding: `NaN`, `Infinity`,
 * `-Infinity`.
 */
export const doubleNumber = (number: number): JsonValue => (Number.isFinite(number) ? number : String(number));

/**
 * Normalizes an id to lowercase hex. OTLP treats an id of a different length, or of zeros only, as
 * absent.
 *
 * @param bytes required length, in bytes
 */
export function identifier(hex: string, bytes: number): string | undefined {
  const text = hex.toLowerCase();
  return text.length === 2 * bytes && /^[0-9a-f]+$/.test(text) && !/^0+$/.test(text) ? text : undefined;
}

/** Maps 0, which means absent in OTLP, to `undefined`. */
export const count = (value: number): number | undefined => (value === 0 ? undefined : value);

/** Maps the empty string, which means absent in OTLP, to `undefined`. */
export const word = (value: string): string | undefined => (value === '' ? undefined : value);

/**
 * Builds an object of the defined fields; `undefined` if there are none. `__proto__` becomes an own
 * property like any other key.
 */
export function present(fields: Iterable<readonly [string, JsonValue | undefined]>): DataRecord | undefined {
  const entries = [...fields].filter(([, value]) => value !== undefined);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
