import { and, asc, eq, inArray } from 'drizzle-orm';
import type { InferSelectModel } from 'drizzle-orm';
import type { Permission } from '../permissions.js';
import type { Queries } from './database.js';
import { billingRoles as table, billingRoleUsers as users } from './tables.js';

/** Permissions on a billing account, for the users that have the role. */
export type BillingRole = InferSelectModel<typeof table>;
/** What the roles of an account allow a user. */
export interface BillingGrant {
  billingAccountId: string;
  ownerOrganizationId: string;
  permissions: readonly Permission[];
}
/** A user of a role. */
export type BillingRoleUser = InferSelectModel<typeof users>;

export interface BillingRoles {
  insert(role: BillingRole): Promise<void>;
  get(billingAccountId: string, id: string): Promise<BillingRole | undefined>;
  /** Reads and locks the row (`FOR UPDATE`) until the transaction ends. */
  lock(billingAccountId: string, id: string): Promise<BillingRole | undefined>;
  /** Returns the roles of an account, oldest first. */
  ofAccount(billingAccountId: string): Promise<BillingRole[]>;
  update(role: BillingRole): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Users of roles. The caller that changes them holds a lock on the role. */
export interface BillingRoleUsers {
  insert(user: BillingRoleUser): Promise<void>;
  remove(user: BillingRoleUser): Promise<void>;
  /** Returns the users of roles, oldest first. */
  ofRoles(billingRoleIds: readonly string[]): Promise<BillingRoleUser[]>;
  /** Returns what the roles of a person with this address allow, one for each role. */
  grantsOf(email: string): Promise<BillingGrant[]>;
}

const one = (billingAccountId: string, id: string) =>
  and(eq(table.billingAccountId, billingAccountId), eq(table.id, id));

export function createBillingRoles(queries: Queries): BillingRoles {
  return {
    async insert(role) {
      await queries.insert(table).values(role);
    },

    async get(billingAccountId, id) {
      const [row] = await queries.select().from(table).where(one(billingAccountId, id));
      return row;
    },

    async lock(billingAccountId, id) {
      const [row] = await queries.select().from(table).where(one(billingAccountId, id)).for('update');
      return row;
    },

    ofAccount: (billingAccountId) =>
      queries
        .select()
        .from(table)
        .where(eq(table.billingAccountId, billingAccountId))
        .orderBy(asc(table.createdAt), asc(table.id)),

    async update({ id, ...change }) {
      await queries.update(table).set(change).where(eq(table.id, id));
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },
  };
}

export function createBillingRoleUsers(queries: Queries): BillingRoleUsers {
  return {
    async insert(user) {
      await queries.insert(users).values(user);
    },

    async remove({ id }) {
      await queries.delete(users).where(eq(users.id, id));
    },

    ofRoles: async (billingRoleIds) =>
      billingRoleIds.length === 0
        ? []
        : queries
            .select()
            .from(users)
            .where(inArray(users.billingRoleId, [...billingRoleIds]))
            .orderBy(asc(users.createdAt), asc(users.id)),

    grantsOf: (email) =>
      queries
        .select({
          billingAccountId: table.billingAccountId,
          ownerOrganizationId: table.ownerOrganizationId,
          permissions: table.permissions,
        })
        .from(users)
        .innerJoin(table, eq(table.id, users.billingRoleId))
        .where(eq(users.email, email)),
  };
}
