import { QueryError, type Query } from './session.js';

/**
 * Finds a table by name, first parsed as SQL (`schema.table`), then taken literally.
 * @param sql a query that selects one row by `to_regclass($1)`
 */
export async function findTable(query: Query, sql: string, name: string): Promise<Record<string, unknown> | undefined> {
  for (const each of [name, quoted(name)]) {
    const [row] = await query(sql, [each]).catch((error: unknown) => {
      // PostgreSQL can't parse the name.
      if (error instanceof QueryError && /^(42|0A|22)/.test(error.state)) return [];
      throw error;
    });
    if (row) return row;
  }
  return undefined;
}

/** Quotes any name as an SQL identifier. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
