import { and, eq, gt, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Secrets } from './store.js';
import { organizationSecrets, secrets as table } from './tables.js';
import { isReferredTo, readWithSecrets } from './with-secrets.js';

export function createSecrets(queries: Queries): Secrets {
  return {
    async get(organizationId, id) {
      const [row] = await queries
        .select()
        .from(table)
        .where(and(eq(table.organizationId, organizationId), eq(table.id, id), isNull(table.secretId)));
      return row && { ...row, shared: null };
    },

    async ofConnector(connectorId) {
      const rows = await queries
        .select({ secret: table, shared: organizationSecrets })
        .from(table)
        .leftJoin(organizationSecrets, isReferredTo)
        .where(eq(table.connectorId, connectorId));
      return rows.map(({ secret, shared }) => ({ ...secret, shared }));
    },

    async notes(connectorIds) {
      if (connectorIds.length === 0) return [];
      return queries
        .select({
          id: sql<string>`coalesce(${table.secretId}, ${table.id})`,
          organizationId: sql<string>`coalesce(${organizationSecrets.organizationId}, ${table.organizationId})`,
          connectorId: table.connectorId,
          field: table.field,
          name: sql<string>`coalesce(${organizationSecrets.name}, ${table.name})`,
          consent: table.consent,
          updatedAt: sql<Date>`coalesce(${organizationSecrets.updatedAt}, ${table.updatedAt})`.mapWith(table.updatedAt),
        })
        .from(table)
        .leftJoin(organizationSecrets, isReferredTo)
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
            id: sql`excluded.id`,
            secretId: sql`excluded.secret_id`,
            name: sql`excluded.name`,
            description: sql`excluded.description`,
            keyId: sql`excluded.key_id`,
            sealed: sql`excluded.sealed`,
            destination: sql`excluded.destination`,
            consent: sql`excluded.consent`,
            updatedAt: sql`excluded.updated_at`,
          },
        });
    },

    async refer({ id, before, sealed, secretId }) {
      const changed = await queries
        .update(table)
        .set({ sealed, secretId, destination: null })
        .where(and(eq(table.id, id), eq(table.sealed, before), isNull(table.secretId)))
        .returning({ id: table.id });
      return changed.length > 0;
    },

    async replaceValue({ id, before, sealed }) {
      const changed = await queries
        .update(table)
        .set({ sealed, destination: null })
        .where(and(eq(table.id, id), eq(table.sealed, before), isNull(table.secretId)))
        .returning({ id: table.id });
      return changed.length > 0;
    },

    async noteReauth(id, connectedAt, at) {
      await queries
        .update(table)
        .set({ consent: sql`jsonb_set(${table.consent}, '{needsReauthAt}', to_jsonb(${at.toISOString()}::text))` })
        .where(and(eq(table.id, id), sql`${table.consent} ->> 'connectedAt' = ${connectedAt}`));
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

    async remove(connectorId, ids) {
      if (ids.length === 0) return;
      await queries.delete(table).where(and(eq(table.connectorId, connectorId), inArray(table.id, [...ids])));
    },
  };
}
