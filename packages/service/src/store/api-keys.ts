import { and, asc, count, eq, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { ApiKeys } from './store.js';
import { apiKeys as table } from './tables.js';

export function createApiKeys(queries: Queries): ApiKeys {
  return {
    async insert(key) {
      await queries.insert(table).values(key);
    },

    async get(id) {
      const [row] = await queries.select().from(table).where(eq(table.id, id));
      return row;
    },

    async byDigest(digest) {
      const [row] = await queries.select().from(table).where(eq(table.digest, digest));
      return row;
    },

    async list(organizationId, { limit, offset }) {
      const ofOrganization = eq(table.organizationId, organizationId);
      const rows = await queries
        .select()
        .from(table)
        .where(ofOrganization)
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(limit)
        .offset(offset);
      const [all] = await queries.select({ total: count() }).from(table).where(ofOrganization);
      return { rows, total: all?.total ?? 0 };
    },

    async revoke(organizationId, id, at) {
      const [row] = await queries
        .update(table)
        .set({ revokedAt: sql`coalesce(${table.revokedAt}, ${at.toISOString()}::timestamptz)` })
        .where(and(eq(table.organizationId, organizationId), eq(table.id, id)))
        .returning();
      return row;
    },
  };
}
