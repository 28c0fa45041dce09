import type { InferSelectModel } from 'drizzle-orm';
import { and, asc, count, eq, exists, getTableColumns, inArray, notExists, or, sql, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Permission } from '../permissions.js';
import type { Queries } from './database.js';
import type { Organization, Page, Rows } from './store.js';
import { memberships as table, organizations, roles, userIdentities, users } from './tables.js';
import type { User } from './users.js';

/** The role of a user in an organization. */
export type StoredMembership = InferSelectModel<typeof table>;

/** A membership with the name and the permissions of its custom role, or null if it has none. */
export interface Membership extends StoredMembership {
  roleName: string | null;
  rolePermissions: Permission[] | null;
}

/** A membership with its user and the name of the organization that the role belongs to. */
export interface Member extends Membership {
  user: User;
  organizationName: string;
}

/** A membership to store, with what the audit log shows of its user. */
export type MembershipChange = StoredMembership & { user: Pick<User, 'email' | 'username'> };

type Family = Pick<Organization, 'id' | 'parentId'>;

/**
 * Roles of users. The caller that changes them holds a lock on the organization, so that two changes
 * can't both remove the last administrator.
 */
export interface Memberships {
  insert(membership: MembershipChange): Promise<void>;
  update(membership: MembershipChange): Promise<void>;
  remove(membership: Pick<StoredMembership, 'organizationId' | 'userId'>): Promise<void>;
  /** Reads and locks a membership of the organization itself (`FOR UPDATE`) until the transaction ends. */
  lock(organizationId: string, userId: string): Promise<Member | undefined>;
  ofUser(userId: string): Promise<Membership[]>;
  /** Returns the members of an organization and those of its parent, oldest membership first. */
  list(organization: Family, page: Page): Promise<Rows<Member>>;
  /** Returns a member of an organization; without a membership there, as a member of its parent. */
  find(organization: Family, userId: string): Promise<Member | undefined>;
  /** Returns up to `limit` users who have this role. */
  withRole(organizationId: string, roleId: string, limit: number): Promise<Pick<User, 'id' | 'email'>[]>;
  /** Returns how many users have this role in one of the organizations and are able to sign in. */
  countWithRole(organizationIds: readonly string[], roleId: string): Promise<number>;
}

const one = ({ organizationId, userId }: Pick<StoredMembership, 'organizationId' | 'userId'>) =>
  and(eq(table.organizationId, organizationId), eq(table.userId, userId));

const own = alias(table, 'own');

export function createMemberships(queries: Queries): Memberships {
  const columns = { ...getTableColumns(table), roleName: roles.name, rolePermissions: roles.permissions };
  // The organizations are compared as well: a role never applies in another organization.
  const ofRole = and(eq(roles.id, table.roleId), eq(roles.organizationId, table.organizationId));

  const members = (condition: SQL | undefined) =>
    queries
      .select({ ...columns, user: users, organizationName: organizations.name })
      .from(table)
      .innerJoin(users, eq(users.id, table.userId))
      .innerJoin(organizations, eq(organizations.id, table.organizationId))
      .leftJoin(roles, ofRole)
      .where(condition);

  /** A membership of the parent counts for users that have none in the organization itself. */
  const among = ({ id, parentId }: Family): SQL | undefined => {
    if (parentId === null) return eq(table.organizationId, id);
    const direct = queries
      .select({ one: sql`1` })
      .from(own)
      .where(and(eq(own.organizationId, id), eq(own.userId, table.userId)));
    return or(eq(table.organizationId, id), and(eq(table.organizationId, parentId), notExists(direct)));
  };

  return {
    async insert({ user: _user, ...membership }) {
      await queries.insert(table).values(membership);
    },

    async update({ user: _user, ...membership }) {
      const { roleId, updatedAt } = membership;
      await queries.update(table).set({ roleId, updatedAt }).where(one(membership));
    },

    async remove(membership) {
      await queries.delete(table).where(one(membership));
    },

    async lock(organizationId, userId) {
      const key = one({ organizationId, userId });
      const [locked] = await queries.select({ userId: table.userId }).from(table).where(key).for('update');
      if (!locked) return undefined;
      const [row] = await members(key);
      return row;
    },

    ofUser: (userId) => queries.select(columns).from(table).leftJoin(roles, ofRole).where(eq(table.userId, userId)),

    async list(organization, { limit, offset }) {
      const condition = among(organization);
      const rows = await members(condition)
        .orderBy(asc(table.createdAt), asc(table.userId))
        .limit(limit)
        .offset(offset);
      const [all] = await queries.select({ total: count() }).from(table).where(condition);
      return { rows, total: all?.total ?? 0 };
    },

    async find(organization, userId) {
      const [row] = await members(and(among(organization), eq(table.userId, userId)));
      return row;
    },

    withRole: (organizationId, roleId, limit) =>
      queries
        .select({ id: users.id, email: users.email })
        .from(table)
        .innerJoin(users, eq(users.id, table.userId))
        .where(and(eq(table.organizationId, organizationId), eq(table.roleId, roleId)))
        .orderBy(asc(table.createdAt), asc(table.userId))
        .limit(limit),

    async countWithRole(organizationIds, roleId) {
      const identity = queries
        .select({ one: sql`1` })
        .from(userIdentities)
        .where(eq(userIdentities.userId, table.userId));
      const [all] = await queries
        .select({ total: count() })
        .from(table)
        .where(and(inArray(table.organizationId, [...organizationIds]), eq(table.roleId, roleId), exists(identity)));
      return all?.total ?? 0;
    },
  };
}
