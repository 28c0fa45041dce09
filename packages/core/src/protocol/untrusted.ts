/** Reading values nobody has checked yet. */

/** An object whose fields nobody has checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Longest text a host may send, in UTF-16 units. */
const MAX_TEXT = 65_536;

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT;
}

/** The own fields of an object in a copy without prototype, so that what is read was really sent. Undefined for anything else. */
export function fieldsOf(value: unknown): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.assign(Object.create(null), value);
}

/** Those of `keys` that hold text. */
export function texts<K extends string>(fields: Fields, keys: readonly K[]): { [key in K]?: string } {
  const kept: { [key in K]?: string } = {};
  for (const key of keys) {
    const value = fields[key];
    if (isText(value)) kept[key] = value;
  }
  return kept;
}
