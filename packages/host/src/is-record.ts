/** An object received over the network, with unchecked fields. */
export type UnknownRecord = Readonly<Record<string, unknown>>;

/** Returns whether a received value is an object. */
export function isRecord(value: unknown): value is UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
