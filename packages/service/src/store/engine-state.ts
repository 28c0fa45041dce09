import type { JsonValue, Store, Stored } from '@connector-frame/engine';
import { and, eq, gte, inArray, sql, type SQLWrapper } from 'drizzle-orm';
import type { Queries } from './database.js';
import { isLeaseHeld, LEASE_KEY, tokenOf } from './engine-leases.js';
import { engineState as table } from './tables.js';
import { batchRequests } from './batch-requests.js';

/** The engine's state in the service's database. */
export interface EngineState extends Store {
  /**
   * Overwrites the stored values regardless of their versions, except those with a higher `token`,
   * which a later process has written. For keys that only one process writes.
   */
  put(values: ReadonlyMap<string, JsonValue>): Promise<void>;
  /** Returns all keys that begin with `prefix`, in order. */
  keys(prefix: string): Promise<string[]>;
  /** Returns the versions of all values whose keys begin with `prefix`, by key. */
  versions(prefix: string): Promise<Map<string, number>>;
}

/** The engine's lease, checked by each write. */
export interface Fence {
  /** Fencing token of the lease. */
  readonly token: number;
  /** Called when a write was rejected because another process has acquired the lease. */
  onLost(): void;
}

/** A write was rejected because another process has acquired the engine's lease. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  readonly code = 'lease_lost';
}

interface Change {
  key: string;
  version: number;
  value: string;
}

/** Rows per SQL statement. */
const MAX_ROWS = 500;

/**
 * Creates the state store. Batches concurrent requests of many pipelines into one statement,
 * because each statement blocks the process briefly on the embedded database.
 * @param fence makes writes reject with `LeaseLostError` once another process has the lease. The
 *   statement of a write locks the row of the lease, so that no process acquires it in between
 */
export function createEngineState(queries: Queries, fence?: Fence): EngineState {
  const isHeld = fence ? isLeaseHeld(fence.token) : sql`true`;

  /** Finds out why a statement has written fewer rows than it was given. */
  async function requireLease(): Promise<void> {
    if (!fence) return;
    const [row] = await queries
      .select({ token: sql<number>`${tokenOf(table.value)}::double precision` })
      .from(table)
      .where(eq(table.key, LEASE_KEY));
    if (row?.token === fence.token) return;
    fence.onLost();
    throw new LeaseLostError('Another process has acquired the engine lease.');
  }

  const get = batchRequests<string, Stored | undefined>(async (group) => {
    const keys = [...new Set(group.map(({ item }) => item))];
    const rows = await queries.select().from(table).where(inArray(table.key, keys));
    const found = new Map(
      rows.map(({ key, version, value }): [string, Stored] => [key, { version, value: parse(value) }]),
    );
    for (const { item, resolve } of group) resolve(found.get(item));
  }, MAX_ROWS);

  const change = batchRequests<Change, number | undefined>(async (group) => {
    // Of two changes to one key, the later one is applied after the earlier one is done.
    for (let rest = [...group]; rest.length > 0;) {
      const round = [...new Map(rest.toReversed().map((each) => [each.item.key, each])).values()];
      const done = await changeEach(round.map(({ item }) => item));
      for (const { item, resolve } of round) resolve(done.has(item.key) ? item.version + 1 : undefined);
      rest = rest.filter((each) => !round.includes(each));
    }
  }, MAX_ROWS);

  /** Applies changes with distinct keys. Returns the keys that were changed. */
  async function changeEach(changes: readonly Change[]): Promise<Set<string>> {
    const done = new Set<string>();
    const added = changes.filter(({ version }) => version === 0);
    if (added.length > 0) {
      const rows = await queries
        .insert(table)
        .select(rowsToInsert(added))
        .onConflictDoNothing()
        .returning({ key: table.key });
      for (const { key } of rows) done.add(key);
    }
    const replaced = changes.filter(({ version }) => version > 0);
    if (replaced.length > 0) {
      const incoming = sql.join(
        replaced.map(({ key, version, value }) => sql`(${key}, ${version}::integer, ${value})`),
        sql`, `,
      );
      const rows = await queries
        .update(table)
        .set({ version: sql`${table.version} + 1`, value: sql`incoming.value` })
        .from(sql`(values ${incoming}) as incoming (key, version, value)`)
        .where(sql`${table.key} = incoming.key and ${table.version} = incoming.version and ${isHeld}`)
        .returning({ key: table.key });
      for (const { key } of rows) done.add(key);
    }
    if (done.size < changes.length) await requireLease();
    return done;
  }

  const rowsToInsert = (rows: readonly Pick<Change, 'key' | 'value'>[]) => {
    const incoming = sql.join(
      rows.map(({ key, value }) => sql`(${key}, 1, ${value})`),
      sql`, `,
    );
    return sql`select key, version, value from (values ${incoming}) as incoming (key, version, value) where ${isHeld}`;
  };

  return {
    get,
    compareAndSet: (key: string, version: number, value: JsonValue) =>
      change({ key, version, value: JSON.stringify(value) }),

    async removeAll(prefix) {
      const rows = await queries
        .delete(table)
        .where(and(beginsWith(prefix), isHeld))
        .returning({ key: table.key });
      if (rows.length === 0) await requireLease();
    },

    async put(values) {
      const rows = [...values].map(([key, value]) => ({ key, value: JSON.stringify(value) }));
      for (let from = 0; from < rows.length; from += MAX_ROWS) {
        const some = rows.slice(from, from + MAX_ROWS);
        const written = await queries
          .insert(table)
          .select(rowsToInsert(some))
          .onConflictDoUpdate({
            target: table.key,
            set: { version: sql`${table.version} + 1`, value: sql`excluded.value` },
            setWhere: sql`${tokenIn(table.value)} <= ${tokenIn(sql`excluded.value`)}`,
          })
          .returning({ key: table.key });
        if (written.length < some.length) await requireLease();
      }
    },

    async versions(prefix) {
      const { key, version } = table;
      const rows = await queries.select({ key, version }).from(table).where(beginsWith(prefix));
      return new Map(rows.map((row) => [row.key, row.version]));
    },

    async keys(prefix) {
      const rows = await queries.select({ key: table.key }).from(table).where(beginsWith(prefix)).orderBy(table.key);
      return rows.map(({ key }) => key);
    },
  };
}

/** The range comparison on `key` can use the index. */
const beginsWith = (prefix: string) => and(gte(table.key, prefix), sql`starts_with(${table.key}, ${prefix})`);

const tokenIn = (value: SQLWrapper) => sql`coalesce((${value}::json ->> 'token')::numeric, 0)`;

const parse = (text: string): JsonValue => {
  const value: JsonValue = JSON.parse(text);
  return value;
};
