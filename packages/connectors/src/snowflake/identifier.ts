/**
 * Returns a name as SQL. As in Snowflake itself, a plain name is not case-sensitive, and one in double
 * quotes is; any other name is quoted.
 */
export function identifier(name: string): string {
  if (isPlain(name) || isQuoted(name)) return name;
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the name as Snowflake stores it. */
export function storedName(name: string): string {
  if (isPlain(name)) return name.toUpperCase();
  return isQuoted(name) ? name.slice(1, -1).replaceAll('""', '"') : name;
}

/** Quotes a stored name. */
export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Returns a text as an SQL literal. */
export const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

const isPlain = (name: string): boolean => /^[A-Za-z_][\w$]*$/.test(name);
const isQuoted = (name: string): boolean => /^"(?:[^"]|"")+"$/.test(name);
