/** A received object with unvalidated fields. */
export type UnknownRecord = Readonly<Record<string, unknown>>;

/** Returns whether a received value is an object, and not an array or null. */
export function isRecord(value: unknown): value is UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
