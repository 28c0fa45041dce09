import type { InferSelectModel } from 'drizzle-orm';
import { and, eq, getTableColumns, lt, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Membership } from './memberships.js';
import { memberships, roles, samlAssertions, signIns as table, signInTickets as tickets, users } from './tables.js';
import type { User } from './users.js';

/** A user's session, from the sign-in until it ends. */
export type SignIn = InferSelectModel<typeof table>;

/** A sign-in with all that decides what its user may do now. */
export interface LoadedSignIn {
  signIn: SignIn;
  user: User;
  memberships: readonly Membership[];
}

/** Something that can be redeemed once, such as the link of a mail. */
export type SignInTicket = InferSelectModel<typeof tickets>;

/** Sign-ins and their one-time tickets. The audit log does not contain them. */
export interface SignIns {
  start(signIn: SignIn): Promise<void>;
  /** Returns a sign-in with its user and memberships, in one query. */
  load(id: string): Promise<LoadedSignIn | undefined>;
  /** Advances the generation of refresh tokens. Returns false if it is no longer `generation`. */
  rotate(id: string, generation: number, at: Date): Promise<boolean>;
  end(id: string): Promise<void>;
  /** Ends all sign-ins of a user. */
  endAll(userId: string): Promise<void>;
  issue(ticket: SignInTicket): Promise<void>;
  /** Returns a ticket that has not expired. */
  ticket(digest: Buffer, purpose: string, now: Date): Promise<SignInTicket | undefined>;
  /** Removes and returns a ticket that has not expired. Only one of several callers gets it. */
  redeem(digest: Buffer, purpose: string, now: Date): Promise<SignInTicket | undefined>;
  /** Removes the tickets of a user for one purpose. */
  withdraw(userId: string, purpose: string): Promise<void>;
  /** Notes that an assertion was accepted. Returns false if it was accepted before. */
  acceptAssertion(connectionId: string, assertionId: string, expiresAt: Date): Promise<boolean>;
  /** Removes what has expired. */
  sweep(now: Date): Promise<void>;
}

const live = (digest: Buffer, purpose: string, now: Date) =>
  and(eq(tickets.digest, digest), eq(tickets.purpose, purpose), sql`${tickets.expiresAt} > ${now.toISOString()}`);

export function createSignIns(queries: Queries): SignIns {
  return {
    async start(signIn) {
      await queries.insert(table).values(signIn);
    },

    async load(id) {
      const rows = await queries
        .select({
          signIn: table,
          user: users,
          membership: getTableColumns(memberships),
          roleName: roles.name,
          rolePermissions: roles.permissions,
        })
        .from(table)
        .innerJoin(users, eq(users.id, table.userId))
        .leftJoin(memberships, eq(memberships.userId, table.userId))
        .leftJoin(roles, and(eq(roles.id, memberships.roleId), eq(roles.organizationId, memberships.organizationId)))
        .where(eq(table.id, id));
      const [first] = rows;
      if (!first) return undefined;
      return {
        signIn: first.signIn,
        user: first.user,
        memberships: rows.flatMap(({ membership, roleName, rolePermissions }) =>
          membership ? [{ ...membership, roleName, rolePermissions }] : [],
        ),
      };
    },

    async rotate(id, generation, at) {
      const rows = await queries
        .update(table)
        .set({ generation: generation + 1, rotatedAt: at })
        .where(and(eq(table.id, id), eq(table.generation, generation)))
        .returning({ id: table.id });
      return rows.length > 0;
    },

    async end(id) {
      await queries.delete(table).where(eq(table.id, id));
    },

    async endAll(userId) {
      await queries.delete(table).where(eq(table.userId, userId));
    },

    async issue(ticket) {
      await queries.insert(tickets).values(ticket);
    },

    async ticket(digest, purpose, now) {
      const [row] = await queries
        .select()
        .from(tickets)
        .where(live(digest, purpose, now));
      return row;
    },

    async redeem(digest, purpose, now) {
      const [row] = await queries
        .delete(tickets)
        .where(live(digest, purpose, now))
        .returning();
      return row;
    },

    async withdraw(userId, purpose) {
      await queries.delete(tickets).where(and(eq(tickets.userId, userId), eq(tickets.purpose, purpose)));
    },

    async acceptAssertion(connectionId, assertionId, expiresAt) {
      const rows = await queries
        .insert(samlAssertions)
        .values({ connectionId, assertionId, expiresAt })
        .onConflictDoNothing()
        .returning({ assertionId: samlAssertions.assertionId });
      return rows.length > 0;
    },

    async sweep(now) {
      await queries.delete(table).where(lt(table.expiresAt, now));
      await queries.delete(tickets).where(lt(tickets.expiresAt, now));
      await queries.delete(samlAssertions).where(lt(samlAssertions.expiresAt, now));
    },
  };
}
