import { and, asc, count, eq } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Roles } from './store.js';
import { roles as table } from './tables.js';

const one = (organizationId: string, id: string) => and(eq(table.organizationId, organizationId), eq(table.id, id));

export function createRoles(queries: Queries): Roles {
  return {
    async insert(role) {
      await queries.insert(table).values(role);
    },

    async get(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id));
      return row;
    },

    async hold(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id)).for('share');
      return row;
    },

    async lock(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id)).for('update');
      return row;
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

    async update({ id, organizationId, ...change }) {
      await queries.update(table).set(change).where(one(organizationId, id));
    },

    async remove(organizationId, id) {
      await queries.delete(table).where(one(organizationId, id));
    },
  };
}
