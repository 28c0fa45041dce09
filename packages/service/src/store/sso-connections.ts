import type { InferSelectModel } from 'drizzle-orm';
import { and, arrayContains, asc, count, eq } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Page, Rows } from './store.js';
import { ssoConnections as table, type SamlIdp } from './tables.js';

/** Single sign-on of an organization by SAML. */
export type SsoConnection = InferSelectModel<typeof table>;

export interface SsoConnections {
  insert(connection: SsoConnection): Promise<void>;
  update(connection: SsoConnection): Promise<void>;
  /** Removes a connection with all users that belong to it. */
  remove(organizationId: string, id: string): Promise<void>;
  get(organizationId: string, id: string): Promise<SsoConnection | undefined>;
  /** Reads and locks the row (`FOR UPDATE`) until the transaction ends. */
  lock(organizationId: string, id: string): Promise<SsoConnection | undefined>;
  list(organizationId: string, page: Page): Promise<Rows<SsoConnection>>;
  /** Returns a connection of any organization, for a sign-in. */
  ofSignIn(id: string): Promise<SsoConnection | undefined>;
  /** Returns the connections of all organizations that have this domain, oldest first. */
  withDomain(domain: string): Promise<SsoConnection[]>;
  /** Returns whether any organization has a connection with a domain. */
  any(): Promise<boolean>;
  /** Stores what was read from the metadata again; it is no change of the configuration. */
  refresh(id: string, idp: SamlIdp, at: Date): Promise<void>;
  /** Returns up to `limit` connections that give this role. */
  withRole(organizationId: string, roleId: string, limit: number): Promise<Pick<SsoConnection, 'id' | 'name'>[]>;
}

const one = (organizationId: string, id: string) => and(eq(table.organizationId, organizationId), eq(table.id, id));

export function createSsoConnections(queries: Queries): SsoConnections {
  return {
    async insert(connection) {
      await queries.insert(table).values(connection);
    },

    async update({ id, organizationId, ...values }) {
      await queries.update(table).set(values).where(one(organizationId, id));
    },

    async remove(organizationId, id) {
      await queries.delete(table).where(one(organizationId, id));
    },

    async get(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id));
      return row;
    },

    async lock(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id)).for('update');
      return row;
    },

    async list(organizationId, { limit, offset }) {
      const own = eq(table.organizationId, organizationId);
      const rows = await queries
        .select()
        .from(table)
        .where(own)
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(limit)
        .offset(offset);
      const [all] = await queries.select({ total: count() }).from(table).where(own);
      return { rows, total: all?.total ?? 0 };
    },

    async ofSignIn(id) {
      const [row] = await queries.select().from(table).where(eq(table.id, id));
      return row;
    },

    withDomain: (domain) =>
      queries
        .select()
        .from(table)
        .where(arrayContains(table.emailDomains, [domain]))
        .orderBy(asc(table.createdAt), asc(table.id)),

    async any() {
      const rows = await queries.select({ id: table.id }).from(table).limit(1);
      return rows.length > 0;
    },

    async refresh(id, idp, at) {
      await queries.update(table).set({ idp, idpReadAt: at }).where(eq(table.id, id));
    },

    withRole: (organizationId, roleId, limit) =>
      queries
        .select({ id: table.id, name: table.name })
        .from(table)
        .where(and(eq(table.organizationId, organizationId), eq(table.defaultRoleId, roleId)))
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(limit),
  };
}
