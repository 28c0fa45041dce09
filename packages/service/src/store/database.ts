import type { PGlite } from '@electric-sql/pglite';
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite';
import { drizzle as drizzlePostgres } from 'drizzle-orm/node-postgres';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { Pool, type QueryResult } from 'pg';

/** What the table files ask: the database itself, or a transaction of it. */
export type Queries = PgDatabase<PgQueryResultHKT>;

/** Runs SQL text of one or more statements; answers the rows of the last. */
export type Script = (sql: string) => Promise<Record<string, unknown>[]>;

/** One of the two databases, alike to everything above. */
export interface Database {
  readonly queries: Queries;
  /** A transaction for SQL text, as migrations need it. */
  script<T>(work: (run: Script) => Promise<T>): Promise<T>;
  /** PostgreSQL only: shared by all replicas, so what must be counted together is counted there. */
  readonly pool?: Pool;
  close(): Promise<void>;
}

/** The embedded database. The caller has opened it, and holds the folder's lock. */
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
 * A PostgreSQL server, 15 or later. `onIdleError` hears of connections that broke while nobody used them; the pool replaces them.
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
  // One that breaks while it is in use tells whoever uses it; the event that nobody hears would end the process.
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
      // pg answers an array when the text held several statements; its types know only the single one.
      const answer: QueryResult | QueryResult[] = await client.query(sql);
      const last = Array.isArray(answer) ? answer.at(-1) : answer;
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
