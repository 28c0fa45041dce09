/** An object of the wire, whose fields nobody has checked yet. */
export type UnknownRecord = Readonly<Record<string, unknown>>;

/** Whether a value that came over a wire is an object with fields. */
export function isRecord(value: unknown): value is UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
