import type { DataRecord, JsonValue } from '../../records/record.js';
import { BodyError } from '../receiver.js';

/** Deeper values are refused: with what stands around them a record would be deeper than any other input lets through. */
export const MAX_DEPTH = 90;

/** A log record as its encoding told it, and what it shares with others: the same object for all of them. */
export interface Log {
  fields: DataRecord;
  resource: DataRecord | undefined;
  scope: DataRecord | undefined;
}

export const tooDeep = (): BodyError => new BodyError(400, 'A value in this request is nested too deep.');

const LAST_NANO = 2n ** 64n - 1n;

/** Nanoseconds since the epoch as RFC 3339, in UTC. 0 is what OTLP says for unknown. @throws BodyError */
export function moment(nanos: bigint): string | undefined {
  if (nanos < 0n || nanos > LAST_NANO)
    throw new BodyError(400, 'A time in this request is not a count of nanoseconds since 1970.');
  if (nanos === 0n) return undefined;
  const seconds = new Date(Number(nanos / 1_000_000_000n) * 1_000).toISOString().slice(0, 19);
  const fraction = String(nanos % 1_000_000_000n).padStart(9, '0');
  return `${seconds}.${fraction.endsWith('000000') ? fraction.slice(0, 3) : fraction}Z`;
}

/** Whole numbers that a double can't hold stay texts, as OTLP's own JSON writes all of them. */
export function wholeNumber(digits: bigint): JsonValue {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : String(digits);
}

/** Numbers that JSON does not have are the texts OTLP's own JSON has for them: `NaN`, `Infinity`, `-Infinity`. */
export const doubleNumber = (number: number): JsonValue => (Number.isFinite(number) ? number : String(number));

/** An id in hex, in lower case. One of another length is none, as OTLP says, and so is one of zeros. */
export function identifier(hex: string, bytes: number): string | undefined {
  const text = hex.toLowerCase();
  return text.length === 2 * bytes && /^[0-9a-f]+$/.test(text) && !/^0+$/.test(text) ? text : undefined;
}

/** 0 is what OTLP says for absent. */
export const count = (value: number): number | undefined => (value === 0 ? undefined : value);

/** An empty text is what OTLP says for absent. */
export const word = (value: string): string | undefined => (value === '' ? undefined : value);

/** Without what is absent; `undefined` when nothing is left. A key `__proto__` is a key like any other. */
export function present(fields: Iterable<readonly [string, JsonValue | undefined]>): DataRecord | undefined {
  const entries = [...fields].filter(([, value]) => value !== undefined);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
