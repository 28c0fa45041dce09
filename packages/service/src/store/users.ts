import type { InferSelectModel } from 'drizzle-orm';
import { and, asc, eq, inArray, isNull, lt, notExists, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import {
  localCredentials as credentials,
  memberships,
  userIdentities as identities,
  users as table,
  type SignInMethod,
} from './tables.js';

/**
 * A person. Users of a connection (`connectionId`) are apart from all others, also if they have the
 * same address.
 */
export type User = InferSelectModel<typeof table>;
/** How a user is recognized by an identity provider, or as a local account. */
export type UserIdentity = InferSelectModel<typeof identities>;
/** Password and second factor of a local account. */
export type LocalCredentials = InferSelectModel<typeof credentials>;

/** What an identity provider says about who signs in. */
export type IdentityKey = Pick<UserIdentity, 'provider' | 'issuer' | 'subject'>;

/**
 * Users, which belong to no organization: their memberships do, and only these are recorded in audit
 * logs.
 */
export interface Users {
  create(user: User): Promise<void>;
  get(id: string): Promise<User | undefined>;
  /** Reads and locks the row (`FOR UPDATE`) until the transaction ends. */
  lock(id: string): Promise<User | undefined>;
  byIdentity(key: IdentityKey): Promise<User | undefined>;
  /** @param connectionId null: users that belong to no connection */
  byEmail(email: string, connectionId: string | null): Promise<User | undefined>;
  change(user: User): Promise<void>;
  /** Deletes a user with all that belongs to it, if it has no membership. Returns whether it did. */
  deleteUnused(id: string): Promise<boolean>;
  delete(id: string): Promise<void>;
  /** Deletes up to `limit` users that have had no membership since `before`. Returns how many. */
  sweep(before: Date, limit: number): Promise<number>;
  addIdentity(identity: UserIdentity): Promise<void>;
  /** Returns the identities of several users, oldest first. */
  identities(userIds: readonly string[]): Promise<UserIdentity[]>;
  /** Returns an identity of a user by its provider and issuer. */
  identityAt(userId: string, provider: SignInMethod, issuer: string): Promise<UserIdentity | undefined>;
  credentials(userId: string): Promise<LocalCredentials | undefined>;
  /** Stores the credentials, replacing those that the user had. */
  setCredentials(values: LocalCredentials): Promise<void>;
  /**
   * Notes that the code of a time step was used. Returns false if that or a later one was used
   * before.
   */
  acceptStep(userId: string, step: number): Promise<boolean>;
  /** Removes a recovery code. Returns false if the user does not have it. */
  redeemRecoveryCode(userId: string, digest: string): Promise<boolean>;
}

export function createUsers(queries: Queries): Users {
  const withoutMembership = notExists(
    queries
      .select({ one: sql`1` })
      .from(memberships)
      .where(eq(memberships.userId, table.id)),
  );
  return {
    async create(user) {
      await queries.insert(table).values(user);
    },

    async get(id) {
      const [row] = await queries.select().from(table).where(eq(table.id, id));
      return row;
    },

    async lock(id) {
      const [row] = await queries.select().from(table).where(eq(table.id, id)).for('update');
      return row;
    },

    async byIdentity({ provider, issuer, subject }) {
      const [row] = await queries
        .select({ user: table })
        .from(identities)
        .innerJoin(table, eq(table.id, identities.userId))
        .where(and(eq(identities.provider, provider), eq(identities.issuer, issuer), eq(identities.subject, subject)));
      return row?.user;
    },

    async byEmail(email, connectionId) {
      const realm = connectionId === null ? isNull(table.connectionId) : eq(table.connectionId, connectionId);
      const [row] = await queries
        .select()
        .from(table)
        .where(and(eq(table.email, email), realm));
      return row;
    },

    async change({ id, ...values }) {
      await queries.update(table).set(values).where(eq(table.id, id));
    },

    async deleteUnused(id) {
      const rows = await queries
        .delete(table)
        .where(and(eq(table.id, id), withoutMembership))
        .returning({ id: table.id });
      return rows.length > 0;
    },

    async delete(id) {
      await queries.delete(table).where(eq(table.id, id));
    },

    async sweep(before, limit) {
      const unused = queries
        .select({ id: table.id })
        .from(table)
        .where(and(lt(table.updatedAt, before), withoutMembership))
        .limit(limit)
        .for('update', { skipLocked: true });
      const rows = await queries.delete(table).where(inArray(table.id, unused)).returning({ id: table.id });
      return rows.length;
    },

    async addIdentity(identity) {
      await queries.insert(identities).values(identity);
    },

    identities(userIds) {
      if (userIds.length === 0) return Promise.resolve([]);
      return queries
        .select()
        .from(identities)
        .where(inArray(identities.userId, [...userIds]))
        .orderBy(asc(identities.createdAt), asc(identities.id));
    },

    async identityAt(userId, provider, issuer) {
      const [row] = await queries
        .select()
        .from(identities)
        .where(and(eq(identities.userId, userId), eq(identities.provider, provider), eq(identities.issuer, issuer)));
      return row;
    },

    async credentials(userId) {
      const [row] = await queries.select().from(credentials).where(eq(credentials.userId, userId));
      return row;
    },

    async setCredentials(values) {
      const { userId: _userId, ...set } = values;
      await queries.insert(credentials).values(values).onConflictDoUpdate({ target: credentials.userId, set });
    },

    async acceptStep(userId, step) {
      const rows = await queries
        .update(credentials)
        .set({ totpStep: step })
        .where(and(eq(credentials.userId, userId), lt(credentials.totpStep, step)))
        .returning({ userId: credentials.userId });
      return rows.length > 0;
    },

    async redeemRecoveryCode(userId, digest) {
      const rows = await queries
        .update(credentials)
        .set({ recoveryCodes: sql`array_remove(${credentials.recoveryCodes}, ${digest})` })
        .where(and(eq(credentials.userId, userId), sql`${digest} = any(${credentials.recoveryCodes})`))
        .returning({ userId: credentials.userId });
      return rows.length > 0;
    },
  };
}
