import type { PGlite } from '@electric-sql/pglite';
import { drizzle } from 'drizzle-orm/pglite';
import type { Database } from './database.js';

/** Wraps an opened PGlite client. The caller must hold the lock of its folder. */
export function pgliteDatabase(client: PGlite): Database {
  const queries = drizzle(client);
  return {
    queries,
    transaction: (work) => queries.transaction(work),
    script: (work) =>
      client.transaction((tx) =>
        work(async (sql) => {
          const results = await tx.exec(sql);
          return results.at(-1)?.rows ?? [];
        }),
      ),
    close: () => client.close(),
  };
}
