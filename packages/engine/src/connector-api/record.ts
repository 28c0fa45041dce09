/** A JSON value. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** A record of a source: a JSON object. Records are never modified in place. */
export interface DataRecord {
  readonly [key: string]: JsonValue | undefined;
}

/**
 * Type guard: whether a value is a JSON object and so can be a record. Arrays and `null` are not.
 */
export function isRecord(value: unknown): value is DataRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
