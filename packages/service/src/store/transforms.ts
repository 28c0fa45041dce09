import { and, asc, count, eq, inArray, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Transforms } from './store.js';
import { transforms as table } from './tables.js';

const one = (organizationId: string, id: string) => and(eq(table.organizationId, organizationId), eq(table.id, id));

export function createTransforms(queries: Queries): Transforms {
  return {
    async insert(transform) {
      await queries.insert(table).values(transform);
    },

    async get(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id));
      return row;
    },

    async lock(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id)).for('update');
      return row;
    },

    async hold(organizationId, ids) {
      if (ids.length === 0) return [];
      return queries
        .select({ id: table.id })
        .from(table)
        .where(and(eq(table.organizationId, organizationId), inArray(table.id, [...ids])))
        .orderBy(asc(table.id))
        .for('key share');
    },

    async list(organizationId, { limit, offset }) {
      const own = eq(table.organizationId, organizationId);
      const rows = await queries
        .select()
        .from(table)
        .where(own)
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(limit)
        .offset(offset);
      const [all] = await queries.select({ total: count() }).from(table).where(own);
      return { rows, total: all?.total ?? 0 };
    },

    async update({ id, ...change }) {
      await queries.update(table).set(change).where(eq(table.id, id));
    },

    async touch(ids) {
      if (ids.length === 0) return;
      await queries
        .update(table)
        .set({ version: sql`${table.version} + 1` })
        .where(inArray(table.id, [...ids]));
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },
  };
}
