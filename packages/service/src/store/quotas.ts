import { and, asc, count, eq, or, type SQL } from 'drizzle-orm';
import type { InferSelectModel } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Page, Rows } from './store.js';
import { quotas as table } from './tables.js';

/** A limit of what an organization, or all members of a billing account, receive or deliver. */
export type Quota = InferSelectModel<typeof table>;

export interface QuotaFilter {
  organizationId?: string | undefined;
  billingAccountId?: string | undefined;
}

export interface Quotas {
  insert(quota: Quota): Promise<void>;
  /** Returns a quota that an organization has set, or that limits it. */
  get(organizationId: string, id: string): Promise<Quota | undefined>;
  /** Returns the ID of the billing account that a quota limits, if it limits one. */
  accountOf(id: string): Promise<string | undefined>;
  /** Reads and locks a quota that an organization has set (`FOR UPDATE`) until the transaction ends. */
  lock(ownerId: string, id: string): Promise<Quota | undefined>;
  /** Returns the quotas that an organization has set, and those that limit it, oldest first. */
  list(organizationId: string, page: Page, filter?: QuotaFilter): Promise<Rows<Quota>>;
  /** Returns the number of quotas that an organization has set. */
  count(ownerId: string): Promise<number>;
  update(quota: Quota): Promise<void>;
  remove(id: string): Promise<void>;
}

const visibleTo = (organizationId: string): SQL | undefined =>
  or(eq(table.ownerOrganizationId, organizationId), eq(table.organizationId, organizationId));

export function createQuotas(queries: Queries): Quotas {
  return {
    async insert(quota) {
      await queries.insert(table).values(quota);
    },

    async get(organizationId, id) {
      const [row] = await queries
        .select()
        .from(table)
        .where(and(eq(table.id, id), visibleTo(organizationId)));
      return row;
    },

    async accountOf(id) {
      const [row] = await queries.select({ accountId: table.billingAccountId }).from(table).where(eq(table.id, id));
      return row?.accountId ?? undefined;
    },

    async lock(ownerId, id) {
      const [row] = await queries
        .select()
        .from(table)
        .where(and(eq(table.id, id), eq(table.ownerOrganizationId, ownerId)))
        .for('update');
      return row;
    },

    async list(organizationId, { limit, offset }, filter = {}) {
      const condition = and(
        visibleTo(organizationId),
        filter.organizationId === undefined ? undefined : eq(table.organizationId, filter.organizationId),
        filter.billingAccountId === undefined ? undefined : eq(table.billingAccountId, filter.billingAccountId),
      );
      const rows = await queries
        .select()
        .from(table)
        .where(condition)
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(limit)
        .offset(offset);
      const [all] = await queries.select({ total: count() }).from(table).where(condition);
      return { rows, total: all?.total ?? 0 };
    },

    async count(ownerId) {
      const [row] = await queries.select({ total: count() }).from(table).where(eq(table.ownerOrganizationId, ownerId));
      return row?.total ?? 0;
    },

    async update({ id, ...change }) {
      await queries.update(table).set(change).where(eq(table.id, id));
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },
  };
}
