import { and, arrayContains, asc, count, eq, isNull } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Organizations } from './store.js';
import { organizations as table } from './tables.js';

export function createOrganizations(queries: Queries): Organizations {
  return {
    async insert(organization) {
      await queries.insert(table).values(organization);
    },

    async get(id) {
      const [row] = await queries.select().from(table).where(eq(table.id, id));
      return row;
    },

    async teams(parentId, { limit, offset }) {
      const ofParent = eq(table.parentId, parentId);
      const rows = await queries
        .select()
        .from(table)
        .where(ofParent)
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(limit)
        .offset(offset);
      const [all] = await queries.select({ total: count() }).from(table).where(ofParent);
      return { rows, total: all?.total ?? 0 };
    },

    async named(name, parentId) {
      const [row] = await queries
        .select()
        .from(table)
        .where(
          and(eq(table.name, name), parentId === undefined ? isNull(table.parentId) : eq(table.parentId, parentId)),
        )
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(1);
      return row;
    },

    async update(id, change, at) {
      const [row] = await queries
        .update(table)
        .set({ ...change, updatedAt: at })
        .where(eq(table.id, id))
        .returning();
      return row;
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },

    async allowsOrigin(origin) {
      const rows = await queries
        .select({ id: table.id })
        .from(table)
        .where(arrayContains(table.allowedOrigins, [origin]))
        .limit(1);
      return rows.length > 0;
    },
  };
}
