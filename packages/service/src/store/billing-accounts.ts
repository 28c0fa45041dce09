import { and, asc, count, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import type { InferSelectModel } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Page, Rows } from './store.js';
import {
  billingAccounts as table,
  billingMembers as members,
  billingSubscriptions as subscriptions,
  organizations,
} from './tables.js';

/** Organizations that are billed together. */
export type BillingAccount = InferSelectModel<typeof table>;
/** The time in which an organization was in an account. */
export type BillingMember = InferSelectModel<typeof members>;
/** The time in which an account had a product. */
export type BillingSubscription = InferSelectModel<typeof subscriptions>;

export interface BillingAccounts {
  insert(account: BillingAccount): Promise<void>;
  /** Returns an account of a parent organization, also a deleted one. */
  get(ownerId: string, id: string): Promise<BillingAccount | undefined>;
  /** Reads and locks an account that is not deleted (`FOR UPDATE`) until the transaction ends. */
  lock(ownerId: string, id: string): Promise<BillingAccount | undefined>;
  /**
   * Returns the accounts of an owner, if one is given, and the accounts in `ids`, oldest first. Leaves
   * out deleted accounts.
   */
  list(ownerId: string | undefined, page: Page, ids?: readonly string[]): Promise<Rows<BillingAccount>>;
  update(account: BillingAccount): Promise<void>;
}

/** Which organization is in which account. The caller that changes it holds a lock on the organization. */
export interface BillingMembers {
  insert(member: BillingMember): Promise<void>;
  update(member: BillingMember): Promise<void>;
  /** Reads and locks the present membership of an organization (`FOR UPDATE`). */
  lock(organizationId: string): Promise<BillingMember | undefined>;
  /** Returns all memberships of an account, also those that have ended. */
  ofAccount(billingAccountId: string): Promise<BillingMember[]>;
  /** Returns the ids of the accounts that these organizations are in. */
  accountsOf(organizationIds: readonly string[]): Promise<Map<string, string>>;
  /** Returns the organizations that are in an account now, in the order of their names. */
  list(billingAccountId: string, page: Page): Promise<Rows<{ id: string; name: string }>>;
}

export interface BillingSubscriptions {
  insert(subscription: BillingSubscription): Promise<void>;
  update(subscription: BillingSubscription): Promise<void>;
  remove(id: string): Promise<void>;
  /** Returns the subscriptions of accounts, past and future ones too, in the order of their times. */
  ofAccounts(billingAccountIds: readonly string[]): Promise<BillingSubscription[]>;
  /** Reads those of an account and locks them (`FOR UPDATE`) until the transaction ends. */
  lockAll(billingAccountId: string): Promise<BillingSubscription[]>;
}

const one = (ownerId: string, id: string) => and(eq(table.ownerOrganizationId, ownerId), eq(table.id, id));

export function createBillingAccounts(queries: Queries): BillingAccounts {
  return {
    async insert(account) {
      await queries.insert(table).values(account);
    },

    async get(ownerId, id) {
      const [row] = await queries.select().from(table).where(one(ownerId, id));
      return row;
    },

    async lock(ownerId, id) {
      const [row] = await queries
        .select()
        .from(table)
        .where(and(one(ownerId, id), isNull(table.deletedAt)))
        .for('update');
      return row;
    },

    async list(ownerId, { limit, offset }, ids = []) {
      const condition = and(
        or(
          ownerId === undefined ? sql`false` : eq(table.ownerOrganizationId, ownerId),
          ids.length === 0 ? undefined : inArray(table.id, [...ids]),
        ),
        isNull(table.deletedAt),
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

    async update({ id, ...change }) {
      await queries.update(table).set(change).where(eq(table.id, id));
    },
  };
}

export function createBillingMembers(queries: Queries): BillingMembers {
  return {
    async insert(member) {
      await queries.insert(members).values(member);
    },

    async update({ id, ...change }) {
      await queries.update(members).set(change).where(eq(members.id, id));
    },

    async lock(organizationId) {
      const [row] = await queries
        .select()
        .from(members)
        .where(and(eq(members.organizationId, organizationId), isNull(members.endsAt)))
        .for('update');
      return row;
    },

    ofAccount: (billingAccountId) =>
      queries
        .select()
        .from(members)
        .where(eq(members.billingAccountId, billingAccountId))
        .orderBy(asc(members.startsAt), asc(members.id)),

    async accountsOf(organizationIds) {
      if (organizationIds.length === 0) return new Map();
      const rows = await queries
        .select({ organizationId: members.organizationId, accountId: members.billingAccountId })
        .from(members)
        .where(and(inArray(members.organizationId, [...organizationIds]), isNull(members.endsAt)));
      return new Map(rows.map(({ organizationId, accountId }) => [organizationId, accountId]));
    },

    async list(billingAccountId, { limit, offset }) {
      const condition = and(eq(members.billingAccountId, billingAccountId), isNull(members.endsAt));
      const rows = await queries
        .select({ id: organizations.id, name: organizations.name })
        .from(members)
        .innerJoin(organizations, eq(organizations.id, members.organizationId))
        .where(condition)
        .orderBy(asc(organizations.name), asc(organizations.id))
        .limit(limit)
        .offset(offset);
      const [all] = await queries
        .select({ total: count() })
        .from(members)
        .innerJoin(organizations, eq(organizations.id, members.organizationId))
        .where(condition);
      return { rows, total: all?.total ?? 0 };
    },
  };
}

export function createBillingSubscriptions(queries: Queries): BillingSubscriptions {
  return {
    async insert(subscription) {
      await queries.insert(subscriptions).values(subscription);
    },

    async update({ id, ...change }) {
      await queries.update(subscriptions).set(change).where(eq(subscriptions.id, id));
    },

    async remove(id) {
      await queries.delete(subscriptions).where(eq(subscriptions.id, id));
    },

    ofAccounts: async (billingAccountIds) =>
      billingAccountIds.length === 0
        ? []
        : queries
            .select()
            .from(subscriptions)
            .where(inArray(subscriptions.billingAccountId, [...billingAccountIds]))
            .orderBy(asc(subscriptions.startsAt), asc(subscriptions.id)),

    lockAll: (billingAccountId) =>
      queries
        .select()
        .from(subscriptions)
        .where(eq(subscriptions.billingAccountId, billingAccountId))
        .orderBy(asc(subscriptions.startsAt), asc(subscriptions.id))
        .for('update'),
  };
}
