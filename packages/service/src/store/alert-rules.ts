import { and, asc, count, eq } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { AlertRules } from './store.js';
import { alertRules as table } from './tables.js';

const one = (organizationId: string, id: string) => and(eq(table.organizationId, organizationId), eq(table.id, id));

export function createAlertRules(queries: Queries): AlertRules {
  const rules: AlertRules = {
    async insert(rule) {
      await queries.insert(table).values(rule);
    },

    async get(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id));
      return row;
    },

    async lock(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id)).for('update');
      return row;
    },

    async list(organizationId, { limit, offset }) {
      const rows = await queries
        .select()
        .from(table)
        .where(eq(table.organizationId, organizationId))
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(limit)
        .offset(offset);
      return { rows, total: await rules.count(organizationId) };
    },

    async count(organizationId) {
      const [all] = await queries
        .select({ total: count() })
        .from(table)
        .where(eq(table.organizationId, organizationId));
      return all?.total ?? 0;
    },

    async update({ id, ...change }) {
      await queries.update(table).set(change).where(eq(table.id, id));
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },
  };
  return rules;
}
