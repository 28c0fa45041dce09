import { drizzle } from 'drizzle-orm/node-postgres';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { Pool, type PoolClient, type PoolConfig, type QueryResult } from 'pg';
import { isDatabaseUnavailable } from './unavailable.js';

/** Query interface of the database itself or of a transaction. */
export type Queries = PgDatabase<PgQueryResultHKT>;

/** Runs SQL text of one or more statements and returns the rows of the last one. */
export type Script = (sql: string) => Promise<Record<string, unknown>[]>;

/** Common interface of PGlite and PostgreSQL. */
export interface Database {
  readonly queries: Queries;
  /** Runs `work` in a transaction. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  /** Runs `work` in a transaction, with SQL text as migrations need it. */
  script<T>(work: (run: Script) => Promise<T>): Promise<T>;
  /** A PostgreSQL server that replicas may share, so shared counters belong there. */
  readonly pool?: Pool;
  close(): Promise<void>;
}

/** Time limits of a PostgreSQL connection in milliseconds. */
export interface DatabaseTimeouts {
  /** For a connection, including the wait for a free one of the pool. */
  connect: number;
  /** For a statement on the server. */
  statement: number;
  /**
   * For the response to a statement. Ends the wait for a server that does not respond at all, which
   * therefore can't end the statement itself.
   */
  response: number;
}

/** Maximum connections of one process, and further connections of a shared engine. */
export const POOL_CONNECTIONS = 20;
export const RESERVED_CONNECTIONS = 4;

const TIMEOUTS: DatabaseTimeouts = { connect: 5_000, statement: 15_000, response: 17_000 };

/**
 * Creates a connection pool for PostgreSQL 15 or later.
 * @param where address of the server
 * @param onIdleError receives errors of connections that broke while idle; the pool replaces them
 */
export function postgresDatabase(
  where: Pick<PoolConfig, 'connectionString' | 'host' | 'user' | 'database'>,
  onIdleError: (error: Error) => void,
  timeouts: DatabaseTimeouts = TIMEOUTS,
): Database & { pool: Pool } {
  const pool = new Pool({
    ...where,
    max: POOL_CONNECTIONS,
    connectionTimeoutMillis: timeouts.connect,
    statement_timeout: timeouts.statement,
    query_timeout: timeouts.response,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // `end` does not wait for the connections to close, so a server that stops then may end them first.
  pool.on('error', (error) => {
    if (!pool.ending) onIdleError(error);
  });
  // An error on a connection in use rejects its query. Without a listener, the event would also end
  // the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    queries: drizzle(pool),
    pool,
    transaction: (work) => transactionOn(pool, (client) => work(drizzle(client))),
    script: (work) =>
      transactionOn(pool, (client) =>
        work(async (sql) => {
          // pg returns an array if the text has several statements; its types only declare the
          // single result.
          const results: QueryResult | QueryResult[] = await client.query(sql);
          const last = Array.isArray(results) ? results.at(-1) : results;
          return last?.rows ?? [];
        }),
      ),
    close: () => pool.end(),
  };
}

/** Creates a small pool on the same server, whose connections others can't use up. */
export function reservedPool({ options }: Pool): Pool {
  const pool = new Pool({ ...options, max: RESERVED_CONNECTIONS });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * Runs `work` in a transaction on one connection. Avoids Drizzle's own transaction on a pool: it
 * never returns the connection if `begin` fails, so that an outage would use up the pool, and it
 * returns a broken connection to the pool.
 */
export async function transactionOn<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    // The server ends the transaction of a closed connection. A rollback on it would only wait.
    if (isDatabaseUnavailable(error)) broken = new Error('connection lost', { cause: error });
    else
      await client.query('rollback').catch((cause: unknown) => {
        broken = new Error('rollback failed', { cause });
      });
    throw error;
  } finally {
    client.release(broken);
  }
}
