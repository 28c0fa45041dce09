import { and, eq, isNull, lt, lte, or, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { IdempotencyKeys } from './store.js';
import { idempotencyKeys as table } from './tables.js';

const one = (organizationId: string, key: string) => and(eq(table.organizationId, organizationId), eq(table.key, key));
const held = (organizationId: string, key: string, owner: string) =>
  and(one(organizationId, key), eq(table.owner, owner), isNull(table.answer));

export function createIdempotencyKeys(queries: Queries): IdempotencyKeys {
  return {
    async claim({ organizationId, key, digest, owner, now, lockedUntil, expiresAt }) {
      const row = { organizationId, key, requestDigest: digest, owner, lockedUntil, expiresAt, answer: null };
      const abandoned = and(isNull(table.answer), lte(table.lockedUntil, now), eq(table.requestDigest, digest));
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
      return other.answer === null ? { state: 'in_flight' } : { state: 'done', answer: other.answer };
    },

    async complete(organizationId, key, owner, answer) {
      const rows = await queries
        .update(table)
        .set({ answer })
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
