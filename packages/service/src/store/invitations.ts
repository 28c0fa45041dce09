import type { InferSelectModel } from 'drizzle-orm';
import { and, asc, count, eq, gt, inArray, lt } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Page, Rows } from './store.js';
import { invitations as table } from './tables.js';

/** A pending invitation to an organization. Its link contains a token. */
export type Invitation = InferSelectModel<typeof table>;

export interface Invitations {
  insert(invitation: Invitation): Promise<void>;
  remove(organizationId: string, id: string): Promise<void>;
  /** Reads and locks the invitation of an address (`FOR UPDATE`), also an expired one. */
  lockOf(organizationId: string, email: string): Promise<Invitation | undefined>;
  /** Reads and locks an invitation (`FOR UPDATE`), also an expired one. */
  lock(organizationId: string, id: string): Promise<Invitation | undefined>;
  get(id: string): Promise<Invitation | undefined>;
  byDigest(digest: Buffer): Promise<Invitation | undefined>;
  /** Returns the invitations of an address to some organizations that have not expired. */
  of(email: string, organizationIds: readonly string[], now: Date): Promise<Invitation[]>;
  /** Returns the invitations of an organization that have not expired, oldest first. */
  list(organizationId: string, page: Page, now: Date): Promise<Rows<Invitation>>;
  /** Returns up to `limit` invitations to this role, also expired ones. */
  withRole(organizationId: string, roleId: string, limit: number): Promise<Pick<Invitation, 'id' | 'email'>[]>;
  /** Removes expired invitations. */
  sweep(now: Date): Promise<void>;
}

export function createInvitations(queries: Queries): Invitations {
  return {
    async insert(invitation) {
      await queries.insert(table).values(invitation);
    },

    async remove(organizationId, id) {
      await queries.delete(table).where(and(eq(table.organizationId, organizationId), eq(table.id, id)));
    },

    async lockOf(organizationId, email) {
      const key = and(eq(table.organizationId, organizationId), eq(table.email, email));
      const [row] = await queries.select().from(table).where(key).for('update');
      return row;
    },

    async lock(organizationId, id) {
      const key = and(eq(table.organizationId, organizationId), eq(table.id, id));
      const [row] = await queries.select().from(table).where(key).for('update');
      return row;
    },

    async get(id) {
      const [row] = await queries.select().from(table).where(eq(table.id, id));
      return row;
    },

    async byDigest(digest) {
      const [row] = await queries.select().from(table).where(eq(table.digest, digest));
      return row;
    },

    of(email, organizationIds, now) {
      if (organizationIds.length === 0) return Promise.resolve([]);
      return queries
        .select()
        .from(table)
        .where(
          and(eq(table.email, email), inArray(table.organizationId, [...organizationIds]), gt(table.expiresAt, now)),
        )
        .orderBy(asc(table.createdAt), asc(table.id));
    },

    async list(organizationId, { limit, offset }, now) {
      const condition = and(eq(table.organizationId, organizationId), gt(table.expiresAt, now));
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

    withRole: (organizationId, roleId, limit) =>
      queries
        .select({ id: table.id, email: table.email })
        .from(table)
        .where(and(eq(table.organizationId, organizationId), eq(table.roleId, roleId)))
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(limit),

    async sweep(now) {
      await queries.delete(table).where(lt(table.expiresAt, now));
    },
  };
}
