import { and, asc, count, eq, getTableColumns, isNull, type SQL } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { ApiKeys } from './store.js';
import { apiKeys as table, roles } from './tables.js';

const one = (organizationId: string, id: string) => and(eq(table.organizationId, organizationId), eq(table.id, id));
const withRole = { ...getTableColumns(table), roleName: roles.name, rolePermissions: roles.permissions };

export function createApiKeys(queries: Queries): ApiKeys {
  // The organizations are compared as well: a role never applies to keys of another organization.
  const select = (condition: SQL | undefined) =>
    queries
      .select(withRole)
      .from(table)
      .leftJoin(roles, and(eq(roles.id, table.roleId), eq(roles.organizationId, table.organizationId)))
      .where(condition);

  return {
    async insert(key) {
      await queries.insert(table).values(key);
    },

    async get(id) {
      const [row] = await select(eq(table.id, id));
      return row;
    },

    async byDigest(digest) {
      const [row] = await select(eq(table.digest, digest));
      return row;
    },

    async list(organizationId, { limit, offset }, { revoked = true } = {}) {
      const condition = and(eq(table.organizationId, organizationId), revoked ? undefined : isNull(table.revokedAt));
      const rows = await select(condition).orderBy(asc(table.createdAt), asc(table.id)).limit(limit).offset(offset);
      const [all] = await queries.select({ total: count() }).from(table).where(condition);
      return { rows, total: all?.total ?? 0 };
    },

    async lock(organizationId, id) {
      const [row] = await queries
        .select({ id: table.id })
        .from(table)
        .where(and(one(organizationId, id), isNull(table.revokedAt)))
        .for('update');
      if (!row) return undefined;
      const [key] = await select(eq(table.id, id));
      return key;
    },

    async update({ id, organizationId, ...change }) {
      await queries.update(table).set(change).where(one(organizationId, id));
    },

    withRole(organizationId, roleId, limit) {
      return queries
        .select({ id: table.id, name: table.name })
        .from(table)
        .where(and(eq(table.organizationId, organizationId), eq(table.roleId, roleId), isNull(table.revokedAt)))
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(limit);
    },
  };
}
