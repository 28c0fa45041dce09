import { Refusal, type Query } from './session.js';

/**
 * Asks for a table by its name as SQL reads it, `schema.table`, else as it is written.
 * @param sql a query for one row by `to_regclass($1)`
 */
export async function findTable(query: Query, sql: string, name: string): Promise<Record<string, unknown> | undefined> {
  for (const each of [name, quoted(name)]) {
    const [row] = await query(sql, [each]).catch((error: unknown) => {
      // Not a name by SQL's syntax.
      if (error instanceof Refusal && /^(42|0A|22)/.test(error.state)) return [];
      throw error;
    });
    if (row) return row;
  }
  return undefined;
}

/** A name as an identifier of SQL, whatever is in it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
