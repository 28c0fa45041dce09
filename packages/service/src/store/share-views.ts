import {
  and,
  asc,
  count,
  desc,
  eq,
  exists,
  ilike,
  inArray,
  isNotNull,
  max,
  ne,
  sql,
  type InferSelectModel,
  type SQL,
} from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import type { Queries } from './database.js';
import { containing } from './name-search.js';
import { idColumn, ofResource, type Resource } from './resource-shares.js';
import type { Page, Rows } from './store.js';
import {
  connectors,
  organizations,
  organizationSecrets,
  pipelineComponents,
  pipelines,
  resourceShares as table,
  secrets,
  sharePolicies,
} from './tables.js';

/** A resource with at least one share or a policy. */
export interface SharedResource {
  resource: Resource;
  name: string;
  description: string;
  /** `type_id` of an output; null for a secret. */
  connectorType: string | null;
  targets: number;
  lastSharedAt: Date | null;
  hasPolicy: boolean;
}

/** A team, and whether a resource is shared with it. */
export interface ShareTarget {
  organizationId: string;
  name: string;
  sharedAt: Date | null;
  isInUse: boolean;
}

/** What uses a resource of another organization: a pipeline an output, a connector a secret. */
export interface ResourceUse {
  id: string;
  name: string;
  organizationId: string;
  organizationName: string;
  /** Of the connector; null for a pipeline. */
  connector: Pick<InferSelectModel<typeof connectors>, 'kind' | 'type'> | null;
}

export interface TargetFilter {
  /** Part of the name, in any case. */
  nameSearch?: string | undefined;
  isShared?: boolean | undefined;
  /** Default: shared ones first. */
  sortBy?: 'name' | 'shared' | 'shared_at' | 'in_use' | undefined;
  isDescending?: boolean;
}

/** Who may use shared resources, and who does. */
export interface ShareViews {
  /** Returns the organizations besides the owner that use a resource. */
  users(resource: Resource, ownerId: string): Promise<Set<string>>;
  /**
   * Returns what uses a resource in other organizations than the owner's.
   * @param within only in these
   */
  uses(resource: Resource, ownerId: string, page: Page, within?: readonly string[]): Promise<Rows<ResourceUse>>;
  /** Returns the teams of the owner. */
  targets(resource: Resource, ownerId: string, page: Page, filter: TargetFilter): Promise<Rows<ShareTarget>>;
  /** Returns the resources of an owner that are shared, those that were shared last first. */
  shared(ownerId: string, page: Page, type?: Resource['type']): Promise<Rows<SharedResource>>;
}

/** Returns the table with the uses of a resource, and the condition for those of other organizations. */
function outside({ type, id }: Resource, ownerId: string) {
  const of = type === 'component' ? pipelineComponents : secrets;
  const isUsed = type === 'component' ? eq(pipelineComponents.connectorId, id) : eq(secrets.secretId, id);
  return { of, isUsed: and(isUsed, ne(of.organizationId, ownerId)) };
}

export function createShareViews(queries: Queries): ShareViews {
  return {
    async users(resource, ownerId) {
      const { of, isUsed } = outside(resource, ownerId);
      const rows = await queries.selectDistinct({ id: of.organizationId }).from(of).where(isUsed);
      return new Set(rows.map(({ id }) => id));
    },

    async uses(resource, ownerId, { limit, offset }, within) {
      const { of, isUsed } = outside(resource, ownerId);
      const user = resource.type === 'component' ? pipelines : connectors;
      const used = queries
        .select({ id: resource.type === 'component' ? pipelineComponents.pipelineId : secrets.connectorId })
        .from(of)
        .where(isUsed);
      const isUser = and(inArray(user.id, used), within && inArray(user.organizationId, [...within]));
      const rows = await queries
        .select({
          id: user.id,
          name: user.name,
          organizationId: user.organizationId,
          organizationName: organizations.name,
          ...(resource.type === 'secret' && { kind: connectors.kind, type: connectors.type }),
        })
        .from(user)
        .innerJoin(organizations, eq(organizations.id, user.organizationId))
        .where(isUser)
        .orderBy(asc(organizations.createdAt), asc(organizations.id), asc(user.createdAt), asc(user.id))
        .limit(limit)
        .offset(offset);
      const [all] = await queries.select({ total: count() }).from(user).where(isUser);
      return {
        rows: rows.map(({ kind, type, ...row }) => ({ ...row, connector: kind && type ? { kind, type } : null })),
        total: all?.total ?? 0,
      };
    },

    async targets(resource, ownerId, { limit, offset }, { nameSearch, isShared, sortBy, isDescending = false }) {
      const { of, isUsed } = outside(resource, ownerId);
      const isInUse = exists(
        queries
          .select({ one: sql`1` })
          .from(of)
          .where(and(isUsed, eq(of.organizationId, organizations.id))),
      );
      const joined = and(eq(table.targetOrganizationId, organizations.id), ofResource(table, resource));
      const filter = and(
        eq(organizations.parentId, ownerId),
        nameSearch === undefined ? undefined : ilike(organizations.name, containing(nameSearch)),
        isShared === undefined ? undefined : sql`(${table.id} is not null) = ${isShared}`,
      );
      const direction = isDescending ? desc : asc;
      const order: Record<NonNullable<typeof sortBy>, SQL[]> = {
        name: [direction(organizations.name)],
        shared: [direction(sql`${table.id} is not null`)],
        shared_at: [sql`${direction(table.createdAt)} nulls last`],
        in_use: [direction(sql`${isInUse}`)],
      };
      const rows = await queries
        .select({
          organizationId: organizations.id,
          name: organizations.name,
          sharedAt: table.createdAt,
          isInUse: sql<boolean>`${isInUse}`,
        })
        .from(organizations)
        .leftJoin(table, joined)
        .where(filter)
        .orderBy(
          ...(sortBy ? order[sortBy] : [desc(sql`${table.id} is not null`)]),
          asc(organizations.createdAt),
          asc(organizations.id),
        )
        .limit(limit)
        .offset(offset);
      const [all] = await queries.select({ total: count() }).from(organizations).leftJoin(table, joined).where(filter);
      return { rows, total: all?.total ?? 0 };
    },

    async shared(ownerId, { limit, offset }, type) {
      const own = (of: typeof table | typeof sharePolicies) =>
        and(eq(of.ownerOrganizationId, ownerId), type === undefined ? undefined : isNotNull(idColumn(of, type)));
      const all = unionAll(
        queries
          .select({
            connectorId: table.connectorId,
            secretId: table.secretId,
            sharedAt: sql<Date | null>`${table.createdAt}`.as('shared_at'),
            isPolicy: sql<boolean>`false`.as('is_policy'),
          })
          .from(table)
          .where(own(table)),
        queries
          .select({
            connectorId: sharePolicies.connectorId,
            secretId: sharePolicies.secretId,
            sharedAt: sql<Date | null>`null::timestamptz`.as('shared_at'),
            isPolicy: sql<boolean>`true`.as('is_policy'),
          })
          .from(sharePolicies)
          .where(own(sharePolicies)),
      ).as('everything');
      const grouped = queries
        .select({
          connectorId: all.connectorId,
          secretId: all.secretId,
          targets: sql<number>`(count(*) filter (where not ${all.isPolicy}))::int`.as('targets'),
          lastSharedAt: max(all.sharedAt).as('last_shared_at'),
          hasPolicy: sql<boolean>`bool_or(${all.isPolicy})`.as('has_policy'),
        })
        .from(all)
        .groupBy(all.connectorId, all.secretId)
        .as('grouped');
      const rows = await queries
        .select({ ...grouped._.selectedFields, connector: connectors, secret: organizationSecrets })
        .from(grouped)
        .leftJoin(connectors, eq(connectors.id, grouped.connectorId))
        .leftJoin(organizationSecrets, eq(organizationSecrets.id, grouped.secretId))
        .orderBy(sql`${grouped.lastSharedAt} desc nulls last`, asc(grouped.connectorId), asc(grouped.secretId))
        .limit(limit)
        .offset(offset);
      const [total] = await queries.select({ total: count() }).from(grouped);
      return {
        rows: rows.flatMap(({ connector, secret, targets, lastSharedAt, hasPolicy }): SharedResource[] => {
          const row = connector ?? secret;
          if (!row) return [];
          const { id, name, description } = row;
          const resource: Resource = { type: connector ? 'component' : 'secret', id };
          const at = lastSharedAt === null ? null : new Date(lastSharedAt);
          return [
            {
              resource,
              name,
              description,
              connectorType: connector?.type ?? null,
              targets,
              lastSharedAt: at,
              hasPolicy,
            },
          ];
        }),
        total: total?.total ?? 0,
      };
    },
  };
}
