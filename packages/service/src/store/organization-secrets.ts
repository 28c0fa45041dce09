import { referredSecrets } from '@connector-frame/engine';
import { and, asc, count, eq, inArray, isNull, or, sql, type SQL } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import type { Queries } from './database.js';
import { createResourceShares, isSharedWith } from './resource-shares.js';
import type { ListedSecret, OrganizationSecrets, SecretUse } from './store.js';
import { connectors, organizationSecrets as table, secrets, transforms } from './tables.js';

const one = (organizationId: string, id: string) => and(eq(table.organizationId, organizationId), eq(table.id, id));
const isUsable = (organizationId: string) =>
  or(eq(table.organizationId, organizationId), isSharedWith(table.id, organizationId));
const usable = (organizationId: string, id: string) => and(isUsable(organizationId), eq(table.id, id));

export function createOrganizationSecrets(queries: Queries): OrganizationSecrets {
  const shares = createResourceShares(queries);
  return {
    async insert(secret) {
      await queries.insert(table).values(secret);
    },

    async get(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id));
      return row;
    },

    async usable(organizationId, id) {
      const [row] = await queries.select().from(table).where(usable(organizationId, id));
      return row;
    },

    async lock(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id)).for('update');
      return row;
    },

    async lockUsable(organizationId, id) {
      const [row] = await queries.select().from(table).where(usable(organizationId, id)).for('update');
      if (!row || row.organizationId === organizationId) return row;
      // The statement may have waited for the lock and still have seen a share that was removed under it.
      const shared = await shares.sharedWith(organizationId, 'secret', [id]);
      return shared.has(id) ? row : undefined;
    },

    async update({ id, ...change }) {
      await queries.update(table).set(change).where(eq(table.id, id));
    },

    async replaceValue({ id, before, sealed }) {
      const changed = await queries
        .update(table)
        .set({ sealed })
        .where(and(eq(table.id, id), eq(table.sealed, before)))
        .returning({ id: table.id });
      return changed.length > 0;
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },

    async list(organizationId, { limit, offset }) {
      const ofOrganization = isUsable(organizationId);
      const ofConnectors = and(eq(secrets.organizationId, organizationId), isNull(secrets.secretId));
      const shared = queries
        .select({ ...metadataOf(table), connectorId: sql<string | null>`null::text`.as('connector_id') })
        .from(table)
        .where(ofOrganization);
      const own = queries
        .select({ ...metadataOf(secrets), connectorId: sql<string | null>`${secrets.connectorId}`.as('connector_id') })
        .from(secrets)
        .where(ofConnectors);
      const rows: ListedSecret[] = await unionAll(shared, own)
        .orderBy(sql`created_at`, sql`id`)
        .limit(limit)
        .offset(offset);
      const [ofAll] = await queries.select({ total: count() }).from(table).where(ofOrganization);
      const [ofEach] = await queries.select({ total: count() }).from(secrets).where(ofConnectors);
      return { rows, total: (ofAll?.total ?? 0) + (ofEach?.total ?? 0) };
    },

    async some(organizationId, ids) {
      if (ids.length === 0) return [];
      return queries
        .select()
        .from(table)
        .where(and(eq(table.organizationId, organizationId), inArray(table.id, [...ids])));
    },

    async uses(organizationId, ids) {
      if (ids.length === 0) return [];
      const isUsed = or(
        inArray(secrets.secretId, [...ids]),
        and(isNull(secrets.secretId), inArray(secrets.id, [...ids])),
      );
      return [
        ...(await usesOfConnectors(and(eq(secrets.organizationId, organizationId), isUsed))),
        ...(await usesOfTransforms(organizationId, ids)),
      ];
    },

    // The transforms of other organizations can't refer to it.
    allUses: async (ownerId, id) => [
      ...(await usesOfConnectors(eq(secrets.secretId, id))),
      ...(await usesOfTransforms(ownerId, [id])),
    ],
  };

  function usesOfConnectors(isUsed: SQL | undefined): Promise<SecretUse[]> {
    return queries
      .select({
        secretId: sql<string>`coalesce(${secrets.secretId}, ${secrets.id})`,
        field: secrets.field,
        id: connectors.id,
        organizationId: connectors.organizationId,
        kind: connectors.kind,
        type: connectors.type,
        name: connectors.name,
      })
      .from(secrets)
      .innerJoin(connectors, eq(connectors.id, secrets.connectorId))
      .where(isUsed)
      .orderBy(asc(connectors.createdAt), asc(connectors.id), asc(secrets.field));
  }

  async function usesOfTransforms(organizationId: string, ids: readonly string[]): Promise<SecretUse[]> {
    const wanted = JSON.stringify({ ids });
    const rows = await queries
      .select({ id: transforms.id, name: transforms.name, config: transforms.config })
      .from(transforms)
      .where(
        and(
          eq(transforms.organizationId, organizationId),
          sql`jsonb_path_exists(${transforms.config}, '$.operations[*].secrets.*.id ? (@ == $ids[*])', ${wanted}::jsonb)`,
        ),
      )
      .orderBy(asc(transforms.createdAt), asc(transforms.id));
    return rows.flatMap(({ id, name, config }) =>
      referredSecrets(config)
        .filter((secretId) => ids.includes(secretId))
        .map((secretId): SecretUse => ({
          secretId,
          id,
          organizationId,
          name,
          kind: 'transform',
          type: 'transform',
          field: 'secrets',
        })),
    );
  }
}

const metadataOf = ({
  id,
  organizationId,
  name,
  description,
  createdAt,
  updatedAt,
}: typeof table | typeof secrets) => ({ id, organizationId, name, description, createdAt, updatedAt });
