import type { ConnectorKind } from '@connector-frame/catalog/types';
import { and, asc, count, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Connectors } from './store.js';
import { connectors as table, ports } from './tables.js';

const one = (organizationId: string, kind: ConnectorKind, id: string) =>
  and(eq(table.organizationId, organizationId), eq(table.kind, kind), eq(table.id, id));

export function createConnectors(queries: Queries): Connectors {
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

    async lock(organizationId, kind, id) {
      const [row] = await queries
        .select()
        .from(table)
        .where(one(organizationId, kind, id))
        .for('update');
      return row;
    },

    async lockAll(organizationId, ids) {
      if (ids.length === 0) return [];
      return queries
        .select()
        .from(table)
        .where(and(eq(table.organizationId, organizationId), inArray(table.id, [...ids])))
        .orderBy(asc(table.id))
        .for('update');
    },

    async hold(organizationId, ids) {
      if (ids.length === 0) return [];
      return queries
        .select({ id: table.id, kind: table.kind })
        .from(table)
        .where(and(eq(table.organizationId, organizationId), inArray(table.id, [...ids])))
        .orderBy(asc(table.id))
        .for('key share');
    },

    async list(organizationId, kind, { limit, offset }) {
      const ofKind = and(eq(table.organizationId, organizationId), eq(table.kind, kind));
      const rows = await queries
        .select()
        .from(table)
        .where(ofKind)
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(limit)
        .offset(offset);
      const [all] = await queries.select({ total: count() }).from(table).where(ofKind);
      return { rows, total: all?.total ?? 0 };
    },

    async update({ id, ...change }) {
      await queries.update(table).set(change).where(eq(table.id, id));
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },

    async ofToken(id) {
      const [row] = await queries.select().from(table).where(eq(table.id, id));
      return row;
    },

    async takePort({ first, last }, givenAt) {
      // One at a time: who waits sees what the one before has stored.
      await queries.execute(sql`select pg_advisory_xact_lock(hashtext('ports'))`);
      const range = queries
        .select({ port: sql<number>`port`.as('port') })
        .from(sql`generate_series(${first}::int, ${last}::int) as port`)
        .as('range');
      const [free] = await queries
        .select({ port: range.port })
        .from(range)
        .leftJoin(ports, eq(ports.port, range.port))
        .leftJoin(table, eq(table.port, range.port))
        .where(isNull(table.id))
        .orderBy(sql`${ports.givenAt} asc nulls first`, range.port)
        .limit(1);
      if (!free) return undefined;
      const { port } = free;
      await queries
        .insert(ports)
        .values({ port, givenAt })
        .onConflictDoUpdate({ target: ports.port, set: { givenAt } });
      return port;
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
