import { referredSecrets } from '@connector-frame/engine';
import { and, asc, count, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import type { Queries } from './database.js';
import type { ListedSecret, OrganizationSecrets, SecretUse } from './store.js';
import { connectors, organizationSecrets as table, secrets, transforms } from './tables.js';

const one = (organizationId: string, id: string) => and(eq(table.organizationId, organizationId), eq(table.id, id));

export function createOrganizationSecrets(queries: Queries): OrganizationSecrets {
  return {
    async insert(secret) {
      await queries.insert(table).values(secret);
    },

    async get(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id));
      return row;
    },

    async lock(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id)).for('update');
      return row;
    },

    async update({ id, ...change }) {
      await queries.update(table).set(change).where(eq(table.id, id));
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },

    async list(organizationId, { limit, offset }) {
      const ofOrganization = eq(table.organizationId, organizationId);
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
      const ofConnectors: SecretUse[] = await queries
        .select({
          secretId: sql<string>`coalesce(${secrets.secretId}, ${secrets.id})`,
          field: secrets.field,
          id: connectors.id,
          kind: connectors.kind,
          type: connectors.type,
          name: connectors.name,
        })
        .from(secrets)
        .innerJoin(connectors, eq(connectors.id, secrets.connectorId))
        .where(and(eq(secrets.organizationId, organizationId), isUsed))
        .orderBy(asc(connectors.createdAt), asc(connectors.id), asc(secrets.field));
      return [...ofConnectors, ...(await usesOfTransforms(organizationId, ids))];
    },
  };

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
        .map((secretId): SecretUse => ({ secretId, id, name, kind: 'transform', type: 'transform', field: 'secrets' })),
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
