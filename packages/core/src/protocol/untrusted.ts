/** Helpers to read values that have not been validated. */

/** An object with fields that have not been validated. */
export type Fields = Readonly<Record<string, unknown>>;

/** Maximum length of a string from a host page, in UTF-16 code units. */
const MAX_LENGTH = 65_536;

/** Whether a value is a string of a bounded length. */
export function isBoundedString(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_LENGTH;
}

/**
 * Copies the own fields of an object to one without a prototype, so that inherited properties are
 * not read. Returns `undefined` for other values.
 */
export function fieldsOf(value: unknown): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.assign(Object.create(null), value);
}

/** Picks the fields of `keys` that are strings. */
export function pickStrings<K extends string>(fields: Fields, keys: readonly K[]): { [key in K]?: string } {
  const picked: { [key in K]?: string } = {};
  for (const key of keys) {
    const value = fields[key];
    if (isBoundedString(value)) picked[key] = value;
  }
  return picked;
}
