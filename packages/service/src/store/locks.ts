import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { Database } from './database.js';
import { isDatabaseUnavailable } from './unavailable.js';

/** Locks across all processes that use a database. They hold no transaction. */
export interface Locks {
  /**
   * Runs `work` while it holds the lock of this name. Waits for another holder, in another process for
   * at most 15 seconds.
   */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** Milliseconds. */
const POLL = 200;
const LONGEST_WAIT = 15_000;

const known = new WeakMap<Database, Locks>();

/** Returns the locks of a database. The embedded database has no other processes. */
export function locksOf(database: Database): Locks {
  const { pool } = database;
  const locks = known.get(database) ?? inOrder(pool ? new AdvisoryLocks(pool) : { run: (_name, work) => work() });
  known.set(database, locks);
  return locks;
}

/** Lets holders of the same name in this process take turns. */
function inOrder(locks: Locks): Locks {
  const last = new Map<string, Promise<unknown>>();
  return {
    async run(name, work) {
      const before = last.get(name);
      const turn = (before ?? Promise.resolve()).then(() => locks.run(name, work));
      const settled = turn.catch(() => undefined);
      last.set(name, settled);
      try {
        return await turn;
      } finally {
        if (last.get(name) === settled) last.delete(name);
      }
    },
  };
}

interface Shared {
  readonly client: Promise<PoolClient>;
  users: number;
  isBroken: boolean;
}

/**
 * Advisory locks of PostgreSQL, all on one connection: a lock is held during requests to vendors, and
 * one connection each would use up the pool. It therefore polls, because a statement that waits for a
 * lock would block the others.
 */
class AdvisoryLocks implements Locks {
  readonly #pool: Pool;
  #shared: Shared | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (!this.#shared || this.#shared.isBroken)
      this.#shared = { client: this.#pool.connect(), users: 0, isBroken: false };
    const shared = this.#shared;
    shared.users += 1;
    try {
      await this.#query(shared, (client) => acquire(client, name));
      try {
        return await work();
      } finally {
        // The end of a broken connection ends its locks.
        await this.#query(shared, (client) => release(client, name)).catch(() => undefined);
      }
    } finally {
      shared.users -= 1;
      if (shared.users === 0) await this.#return(shared);
    }
  }

  async #query(shared: Shared, query: (client: PoolClient) => Promise<void>): Promise<void> {
    try {
      await query(await shared.client);
    } catch (error) {
      if (isDatabaseUnavailable(error)) shared.isBroken = true;
      throw error;
    }
  }

  async #return(shared: Shared): Promise<void> {
    if (this.#shared === shared) this.#shared = undefined;
    const client = await shared.client.catch(() => undefined);
    client?.release(shared.isBroken);
  }
}

async function acquire(client: PoolClient, name: string): Promise<void> {
  for (let waited = 0; waited < LONGEST_WAIT; waited += POLL) {
    const { rows } = await client.query<{ held: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as held',
      [name],
    );
    if (rows[0]?.held) return;
    await sleep(POLL);
  }
  throw new Error('Another process has held the lock for too long.');
}

async function release(client: PoolClient, name: string): Promise<void> {
  await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]);
}
