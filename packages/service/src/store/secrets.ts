import { and, eq, gt, inArray, isNotNull, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Secrets } from './store.js';
import { secrets as table } from './tables.js';
import { readWithSecrets } from './with-secrets.js';

export function createSecrets(queries: Queries): Secrets {
  return {
    async get(organizationId, id) {
      const [row] = await queries
        .select()
        .from(table)
        .where(and(eq(table.organizationId, organizationId), eq(table.id, id)));
      return row;
    },

    ofConnector(connectorId) {
      return queries.select().from(table).where(eq(table.connectorId, connectorId));
    },

    async notes(connectorIds) {
      if (connectorIds.length === 0) return [];
      return queries
        .select({
          id: table.id,
          connectorId: table.connectorId,
          field: table.field,
          name: table.name,
          updatedAt: table.updatedAt,
        })
        .from(table)
        .where(inArray(table.connectorId, [...connectorIds]));
    },

    async put(secrets) {
      if (secrets.length === 0) return;
      await queries
        .insert(table)
        .values([...secrets])
        .onConflictDoUpdate({
          target: [table.connectorId, table.field],
          set: {
            name: sql`excluded.name`,
            description: sql`excluded.description`,
            keyId: sql`excluded.key_id`,
            sealed: sql`excluded.sealed`,
            destination: sql`excluded.destination`,
            updatedAt: sql`excluded.updated_at`,
          },
        });
    },

    async reseal(reseals) {
      for (const { id, before, sealed } of reseals) {
        await queries
          .update(table)
          .set({ sealed, destination: null })
          .where(and(eq(table.id, id), eq(table.sealed, before)));
      }
    },

    async inFormat1(after, limit) {
      const rows = await queries
        .selectDistinct({ id: table.connectorId })
        .from(table)
        .where(and(isNotNull(table.destination), gt(table.connectorId, after)))
        .orderBy(table.connectorId)
        .limit(limit);
      return readWithSecrets(
        queries,
        rows.map(({ id }) => id),
      );
    },

    async remove(ids) {
      if (ids.length === 0) return;
      await queries.delete(table).where(inArray(table.id, [...ids]));
    },
  };
}
