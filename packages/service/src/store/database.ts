import type { PGlite } from '@electric-sql/pglite';
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite';
import { drizzle as drizzlePostgres } from 'drizzle-orm/node-postgres';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { Pool, type QueryResult } from 'pg';

/** Query interface of the database itself or of a transaction. */
export type Queries = PgDatabase<PgQueryResultHKT>;

/** Runs SQL text of one or more statements and returns the rows of the last one. */
export type Script = (sql: string) => Promise<Record<string, unknown>[]>;

/** Common interface of PGlite and PostgreSQL. */
export interface Database {
  readonly queries: Queries;
  /** Runs `work` in a transaction, with SQL text as migrations need it. */
  script<T>(work: (run: Script) => Promise<T>): Promise<T>;
  /** PostgreSQL only. All replicas share it, so shared counters belong there. */
  readonly pool?: Pool;
  close(): Promise<void>;
}

/** Wraps an opened PGlite client. The caller must hold the lock of its folder. */
export function embeddedDatabase(client: PGlite): Database {
  return {
    queries: drizzlePglite(client),
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

/**
 * Creates a connection pool for PostgreSQL 15 or later.
 * @param onIdleError receives errors of connections that broke while idle; the pool replaces them
 */
export function postgresDatabase(url: string, onIdleError: (error: Error) => void): Database {
  const pool = new Pool({
    connectionString: url,
    max: 20,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 15_000,
    idle_in_transaction_session_timeout: 30_000,
  });
  pool.on('error', onIdleError);
  // An error on a connection in use rejects its query. Without a listener, the event would also end
  // the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    queries: drizzlePostgres(pool),
    pool,
    script: (work) => transact(pool, work),
    close: () => pool.end(),
  };
}

async function transact<T>(pool: Pool, work: (run: Script) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(async (sql) => {
      // pg returns an array if the text has several statements; its types only declare the single
      // result.
      const results: QueryResult | QueryResult[] = await client.query(sql);
      const last = Array.isArray(results) ? results.at(-1) : results;
      return last?.rows ?? [];
    });
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((cause: unknown) => {
      broken = cause instanceof Error ? cause : new Error('rollback failed');
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
