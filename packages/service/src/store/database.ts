import { drizzle } from 'drizzle-orm/node-postgres';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { Pool, type PoolConfig, type QueryResult } from 'pg';

/** Query interface of the database itself or of a transaction. */
export type Queries = PgDatabase<PgQueryResultHKT>;

/** Runs SQL text of one or more statements and returns the rows of the last one. */
export type Script = (sql: string) => Promise<Record<string, unknown>[]>;

/** Common interface of PGlite and PostgreSQL. */
export interface Database {
  readonly queries: Queries;
  /** Runs `work` in a transaction, with SQL text as migrations need it. */
  script<T>(work: (run: Script) => Promise<T>): Promise<T>;
  /** A PostgreSQL server that replicas may share, so shared counters belong there. */
  readonly pool?: Pool;
  close(): Promise<void>;
}

/**
 * Creates a connection pool for PostgreSQL 15 or later.
 * @param where address of the server
 * @param onIdleError receives errors of connections that broke while idle; the pool replaces them
 */
export function postgresDatabase(
  where: Pick<PoolConfig, 'connectionString' | 'host' | 'user' | 'database'>,
  onIdleError: (error: Error) => void,
): Database & { pool: Pool } {
  const pool = new Pool({
    ...where,
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
    queries: drizzle(pool),
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
