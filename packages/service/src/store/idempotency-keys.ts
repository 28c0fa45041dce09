import { and, eq, isNull, lt, lte, or, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { IdempotencyKeys } from './store.js';
import { idempotencyKeys as table } from './tables.js';

const one = (organizationId: string, key: string) => and(eq(table.organizationId, organizationId), eq(table.key, key));
const held = (organizationId: string, key: string, owner: string) =>
  and(one(organizationId, key), eq(table.owner, owner), isNull(table.response));

export function createIdempotencyKeys(queries: Queries): IdempotencyKeys {
  return {
    async claim({ organizationId, key, digest, owner, now, lockedUntil, expiresAt }) {
      const row = { organizationId, key, requestDigest: digest, owner, lockedUntil, expiresAt, response: null };
      const abandoned = and(isNull(table.response), lte(table.lockedUntil, now), eq(table.requestDigest, digest));
      const taken = await queries
        .insert(table)
        .values(row)
        .onConflictDoUpdate({
          target: [table.organizationId, table.key],
          set: row,
          setWhere: sql`${or(lte(table.expiresAt, now), abandoned)}`,
        })
        .returning({ owner: table.owner });
      if (taken.length > 0) return { state: 'mine' };

      const [other] = await queries.select().from(table).where(one(organizationId, key));
      // The owner may have released the key between the two statements.
      if (!other) return { state: 'in_flight' };
      if (!other.requestDigest.equals(digest)) return { state: 'mismatch' };
      return other.response === null ? { state: 'in_flight' } : { state: 'done', response: other.response };
    },

    async complete(organizationId, key, owner, response) {
      const rows = await queries
        .update(table)
        .set({ response })
        .where(held(organizationId, key, owner))
        .returning({ key: table.key });
      return rows.length > 0;
    },

    async release(organizationId, key, owner) {
      await queries.delete(table).where(held(organizationId, key, owner));
    },

    async sweep(now) {
      await queries.delete(table).where(lt(table.expiresAt, now));
    },
  };
}
