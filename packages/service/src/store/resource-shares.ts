import type { InferSelectModel } from 'drizzle-orm';
import { and, asc, eq, inArray, sql, type SQL } from 'drizzle-orm';
import type { Queries } from './database.js';
import {
  connectors,
  organizations,
  type organizationSecrets,
  resourceShares as table,
  sharePolicies,
} from './tables.js';

/** An output or a secret of the organization. */
export interface Resource {
  type: 'component' | 'secret';
  id: string;
}

/** One resource that is shared with one team. */
export type ResourceShare = InferSelectModel<typeof table>;
/** A resource that new teams get. */
export type SharePolicy = InferSelectModel<typeof sharePolicies>;

/** Shares of outputs and secrets. The caller that changes them holds a lock on the resource. */
export interface ResourceShares {
  insert(shares: readonly ResourceShare[]): Promise<void>;
  remove(shares: readonly ResourceShare[]): Promise<void>;
  /** Returns the shares of a resource, oldest first, each with the name of the team. */
  of(resource: Resource): Promise<(ResourceShare & { targetName: string })[]>;
  /** Returns those of these resources that are shared with a team. */
  sharedWith(organizationId: string, type: Resource['type'], ids: readonly string[]): Promise<Set<string>>;
  /** Returns those of these resources that are shared with any team. */
  sharedAmong(type: Resource['type'], ids: readonly string[]): Promise<Set<string>>;
}

/** Resources that new teams get. The caller that changes them holds a lock on the owner. */
export interface SharePolicies {
  insert(policy: SharePolicy): Promise<void>;
  remove(policy: SharePolicy): Promise<void>;
  get(resource: Resource): Promise<SharePolicy | undefined>;
  ofOwner(ownerId: string): Promise<SharePolicy[]>;
}

/** Rows per SQL statement. */
const MAX_ROWS = 1_000;

/** Returns the column with the ids of resources of a type. */
export const idColumn = (of: typeof table | typeof sharePolicies, type: Resource['type']) =>
  type === 'component' ? of.connectorId : of.secretId;

/** Returns the condition that a row is about a resource. */
export const ofResource = (of: typeof table | typeof sharePolicies, { type, id }: Resource): SQL =>
  eq(idColumn(of, type), id);

export function createResourceShares(queries: Queries): ResourceShares {
  return {
    async insert(shares) {
      for (let from = 0; from < shares.length; from += MAX_ROWS)
        await queries.insert(table).values(shares.slice(from, from + MAX_ROWS));
    },

    async remove(shares) {
      for (let from = 0; from < shares.length; from += MAX_ROWS) {
        const ids = shares.slice(from, from + MAX_ROWS).map(({ id }) => id);
        await queries.delete(table).where(inArray(table.id, ids));
      }
    },

    async of(resource) {
      const rows = await queries
        .select({ share: table, targetName: organizations.name })
        .from(table)
        .innerJoin(organizations, eq(organizations.id, table.targetOrganizationId))
        .where(ofResource(table, resource))
        .orderBy(asc(table.createdAt), asc(organizations.name), asc(table.id));
      return rows.map(({ share, targetName }) => ({ ...share, targetName }));
    },

    async sharedWith(organizationId, type, ids) {
      if (ids.length === 0) return new Set();
      const column = idColumn(table, type);
      const rows = await queries
        .select({ id: column })
        .from(table)
        .where(and(eq(table.targetOrganizationId, organizationId), inArray(column, [...ids])));
      return new Set(rows.flatMap(({ id }) => id ?? []));
    },

    async sharedAmong(type, ids) {
      if (ids.length === 0) return new Set();
      const column = idColumn(table, type);
      const rows = await queries
        .selectDistinct({ id: column })
        .from(table)
        .where(inArray(column, [...ids]));
      return new Set(rows.flatMap(({ id }) => id ?? []));
    },
  };
}

export function createSharePolicies(queries: Queries): SharePolicies {
  return {
    async insert(policy) {
      await queries.insert(sharePolicies).values(policy);
    },

    async remove({ id }) {
      await queries.delete(sharePolicies).where(eq(sharePolicies.id, id));
    },

    async get(resource) {
      const [row] = await queries.select().from(sharePolicies).where(ofResource(sharePolicies, resource));
      return row;
    },

    ofOwner: (ownerId) =>
      queries
        .select()
        .from(sharePolicies)
        .where(eq(sharePolicies.ownerOrganizationId, ownerId))
        .orderBy(asc(sharePolicies.createdAt), asc(sharePolicies.id)),
  };
}

/**
 * Returns whether a connector or a secret is shared with an organization, for the condition of a
 * query.
 */
export const isSharedWith = (
  column: typeof connectors.id | typeof organizationSecrets.id,
  organizationId: SQL | string,
): SQL => {
  const shared = column === connectors.id ? table.connectorId : table.secretId;
  return sql`exists (select 1 from ${table}
    where ${shared} = ${column} and ${table.targetOrganizationId} = ${organizationId})`;
};
