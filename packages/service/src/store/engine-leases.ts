import { and, eq, ne, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import { engineMembers as members, engineState as table } from './tables.js';

/**
 * Row of the engine's lease. Its `expires_at` is in milliseconds since the epoch on the clock of the
 * database.
 */
export const LEASE_KEY = 'lease:engine/';

/** Holders of the lease that share the pipelines with others begin with this. */
export const SHARED = 'shared:';

/** The lease as another process sees it. */
export interface HeldLease {
  holder: string;
  /** Milliseconds until it expires. */
  remainingMs: number;
}

/**
 * The engine's lease in the database. Only the clock of the database decides whether it has expired,
 * so the clocks of the processes may differ.
 */
export interface EngineLeases {
  /**
   * Acquires the lease if it is free, has expired, or is held by the same `holder`. Returns its
   * fencing token, which is higher than all earlier ones, or `undefined` while another holder has it.
   */
  acquire(holder: string, ttlMs: number): Promise<number | undefined>;
  /**
   * Extends the lease to `ttlMs` milliseconds from now, also if it has expired, unless another
   * process has acquired it since. Returns whether the lease is still held.
   */
  renew(token: number, ttlMs: number): Promise<boolean>;
  /** Releases the lease so that it can be acquired immediately. Does nothing if it was lost. */
  release(token: number): Promise<void>;
  /** Returns the lease while it is held. */
  current(): Promise<HeldLease | undefined>;
  /** Returns a member of a shared engine other than `id`, if there is one that has not expired. */
  memberBeside(id: string): Promise<string | undefined>;
}

export function createEngineLeases(queries: Queries): EngineLeases {
  return {
    async acquire(holder, ttlMs) {
      const valueWith = (token: ReturnType<typeof sql>) =>
        sql<string>`json_build_object('holder', ${holder}::text, 'token', ${token}, 'expires_at', ${NOW} + ${ttlMs}::bigint)::text`;
      const [row] = await queries
        .insert(table)
        .values({ key: LEASE_KEY, version: 1, value: valueWith(sql`1`) })
        .onConflictDoUpdate({
          target: table.key,
          set: { version: sql`${table.version} + 1`, value: valueWith(sql`${tokenOf(table.value)} + 1`) },
          setWhere: sql`coalesce(${table.value}::json ->> 'holder', ${holder}) = ${holder} or ${expiryOf(table.value)} <= ${NOW}`,
        })
        .returning({ token: sql<number>`${tokenOf(table.value)}::double precision` });
      return row?.token;
    },

    async renew(token, ttlMs) {
      const value = sql<string>`json_build_object('holder', ${table.value}::json ->> 'holder', 'token', ${tokenOf(table.value)}, 'expires_at', ${NOW} + ${ttlMs}::bigint)::text`;
      const rows = await queries
        .update(table)
        .set({ version: sql`${table.version} + 1`, value })
        .where(isHeldWith(token))
        .returning({ key: table.key });
      return rows.length > 0;
    },

    async release(token) {
      // Keeps the token so that the next one is higher.
      const value = sql<string>`json_build_object('token', ${tokenOf(table.value)})::text`;
      await queries
        .update(table)
        .set({ version: sql`${table.version} + 1`, value })
        .where(isHeldWith(token));
    },

    async current() {
      const [row] = await queries
        .select({
          holder: sql<string | null>`${table.value}::json ->> 'holder'`,
          remainingMs: sql<number>`(${expiryOf(table.value)} - ${NOW})::double precision`,
        })
        .from(table)
        .where(eq(table.key, LEASE_KEY));
      return row && row.holder !== null && row.remainingMs > 0
        ? { holder: row.holder, remainingMs: row.remainingMs }
        : undefined;
    },

    async memberBeside(id) {
      // An export reads the databases of earlier releases, too.
      const [table] = await queries
        .select({ exists: sql<boolean>`to_regclass('engine_members') is not null` })
        .from(ONE);
      if (table?.exists !== true) return undefined;
      const [row] = await queries
        .select({ id: members.id })
        .from(members)
        .where(and(ne(members.id, id), sql`${members.expiresAt} > ${NOW}`))
        .limit(1);
      return row?.id;
    },
  };
}

/** Fencing token in a stored value. */
export const tokenOf = (value: typeof table.value) => sql`coalesce((${value}::json ->> 'token')::bigint, 0)`;
const expiryOf = (value: typeof table.value) => sql`coalesce((${value}::json ->> 'expires_at')::bigint, 0)`;
// Not `now()`: that is when the transaction began, which may have waited for a lock since.
const NOW = sql`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;
/** A table of one row. */
const ONE = sql`(select 1) as one`;

/** What entitles a process to write: the token of the engine's lease, or the membership of a shared engine. */
export type EngineRight = number | { memberId: string };

/**
 * A condition for writes: the lease is held with this token, and can't be acquired until the transaction
 * ends; or the member has not expired.
 */
export const isLeaseHeld = (right: EngineRight) =>
  typeof right === 'number' ? isHeldWithToken(right) : isMember(right.memberId);

/** Whether a member will not expire before the statement ends. Locks nothing, so that renewals never wait. */
const isMember = (id: string) =>
  sql`exists (select from engine_members as member where member.id = ${id} and member.expires_at > ${NOW} + 500)`;

const isHeldWithToken = (token: number) =>
  sql`exists (select from ${table} as lease where lease.key = ${LEASE_KEY} and (lease.value::json ->> 'token')::bigint = ${token} for share)`;

const isHeldWith = (token: number) => and(eq(table.key, LEASE_KEY), sql`${tokenOf(table.value)} = ${token}`);
