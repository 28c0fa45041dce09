/** Reading values nobody has checked yet. */

/** Longest text a host message may carry, in UTF-16 units. */
export const MAX_TEXT = 65_536;

/** An object whose fields nobody has checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isText(value: unknown, longest = MAX_TEXT): value is string {
  return typeof value === 'string' && value.length <= longest;
}

/** A flat copy without a prototype: what is read from it was really sent. */
export function ownFields(value: Fields): Fields {
  return Object.assign(Object.create(null), value);
}
