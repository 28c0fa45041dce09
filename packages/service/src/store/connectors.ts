import type { ConnectorKind } from '@connector-frame/catalog/types';
import { and, asc, count, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import { createResourceShares, isSharedWith } from './resource-shares.js';
import type { Connectors } from './store.js';
import { connectors as table, freedPorts } from './tables.js';
import { readWithSecrets } from './with-secrets.js';

const one = (organizationId: string, kind: ConnectorKind, id: string) =>
  and(eq(table.organizationId, organizationId), eq(table.kind, kind), eq(table.id, id));

export function createConnectors(queries: Queries): Connectors {
  const shares = createResourceShares(queries);
  return {
    async insert(connector) {
      await queries.insert(table).values(connector);
    },

    async get(organizationId, kind, id) {
      const [row] = await queries
        .select()
        .from(table)
        .where(one(organizationId, kind, id));
      return row;
    },

    async shared(organizationId, kind, id) {
      const [row] = await queries
        .select()
        .from(table)
        .where(and(eq(table.kind, kind), eq(table.id, id), isSharedWith(table.id, organizationId)));
      return row;
    },

    async some(organizationId, ids) {
      if (ids.length === 0) return [];
      return queries
        .select()
        .from(table)
        .where(and(eq(table.organizationId, organizationId), inArray(table.id, [...ids])));
    },

    async withSecrets(organizationId, id) {
      const [found] = await readWithSecrets(queries, [id]);
      return found?.connector.organizationId === organizationId ? found : undefined;
    },

    async lock(organizationId, kind, id) {
      const [row] = await queries
        .select()
        .from(table)
        .where(one(organizationId, kind, id))
        .for('update');
      return row;
    },

    async lockAll(organizationIds, ids) {
      if (ids.length === 0) return [];
      return queries
        .select()
        .from(table)
        .where(and(inArray(table.organizationId, [...organizationIds]), inArray(table.id, [...ids])))
        .orderBy(asc(table.id))
        .for('update');
    },

    async hold(organizationId, ids) {
      if (ids.length === 0) return [];
      const isOwn = eq(table.organizationId, organizationId);
      const rows = await queries
        .select({ id: table.id, kind: table.kind, organizationId: table.organizationId })
        .from(table)
        .where(and(or(isOwn, isSharedWith(table.id, organizationId)), inArray(table.id, [...ids])))
        .orderBy(asc(table.id))
        .for('key share');
      const foreign = rows.filter((row) => row.organizationId !== organizationId).map(({ id }) => id);
      // The statement may have waited for a lock and still have seen a share that was removed under it.
      const shared = await shares.sharedWith(organizationId, 'component', foreign);
      return rows.filter((row) => row.organizationId === organizationId || shared.has(row.id));
    },

    async list(organizationId, kind, { limit, offset }, { shared = false } = {}) {
      const isOwn = eq(table.organizationId, organizationId);
      const ofKind = and(shared ? or(isOwn, isSharedWith(table.id, organizationId)) : isOwn, eq(table.kind, kind));
      const order = [asc(table.createdAt), asc(table.id)];
      // Skips the rows of earlier pages in the index. Selecting whole rows with an offset makes
      // PostgreSQL read and sort all of them: 6.6 instead of 1.1 ms for the last of 10,000.
      const page = queries
        .select({ id: table.id })
        .from(table)
        .where(ofKind)
        .orderBy(...order)
        .limit(limit)
        .offset(offset);
      const rows = await queries
        .select()
        .from(table)
        .where(offset === 0 ? ofKind : inArray(table.id, page))
        .orderBy(...order)
        .limit(limit);
      const [all] = await queries.select({ total: count() }).from(table).where(ofKind);
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

    referringTo: (id) =>
      queries
        .select({ id: table.id, name: table.name })
        .from(table)
        .where(eq(table.refersTo, id))
        .orderBy(asc(table.createdAt), asc(table.id)),

    async ofToken(id) {
      const [row] = await queries.select().from(table).where(eq(table.id, id));
      return row;
    },

    async takePort({ first, last }) {
      // Serializes callers, so that each sees the port that the previous one stored.
      await queries.execute(sql`select pg_advisory_xact_lock(hashtext('ports'))`);
      const range = queries
        .select({ candidate: sql<number>`candidate`.as('candidate') })
        .from(sql`generate_series(${first}::int, ${last}::int) as candidate`)
        .as('range');
      const [free] = await queries
        .select({ candidate: range.candidate })
        .from(range)
        .leftJoin(freedPorts, eq(freedPorts.port, range.candidate))
        .leftJoin(table, eq(table.port, range.candidate))
        .where(isNull(table.id))
        .orderBy(sql`${freedPorts.freedAt} asc nulls first`, range.candidate)
        .limit(1);
      return free?.candidate;
    },

    async withoutPort(types) {
      return queries
        .select()
        .from(table)
        .where(and(eq(table.kind, 'input'), inArray(table.type, [...types]), isNull(table.port)))
        .orderBy(asc(table.createdAt), asc(table.id));
    },
  };
}
