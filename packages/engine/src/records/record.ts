/** A value as JSON has it. */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue | undefined };

/** One record of a source: a JSON object. What was read is never changed in place. */
export interface DataRecord {
  readonly [key: string]: JsonValue | undefined;
}

/** Whether a value is a JSON object, and so may be a record. Arrays and `null` are none. */
export function isRecord(value: unknown): value is DataRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
