import { and, eq, isNotNull, notExists, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { DataKeys } from './store.js';
import { dataKeys as table, secrets } from './tables.js';

export function createDataKeys(queries: Queries): DataKeys {
  return {
    async insert(key) {
      await queries.insert(table).values(key).onConflictDoNothing({ target: table.id });
    },

    async get(id) {
      const [row] = await queries.select().from(table).where(eq(table.id, id));
      return row;
    },

    async ofOrganization(organizationId) {
      const [row] = await queries.select().from(table).where(eq(table.organizationId, organizationId));
      return row;
    },

    async masterKeyIds() {
      const rows = await queries.selectDistinct({ id: table.masterKeyId }).from(table);
      return rows.map((row) => row.id);
    },

    wrappedBy(masterKeyId) {
      return queries.select().from(table).where(eq(table.masterKeyId, masterKeyId));
    },

    inFormat1() {
      // All other keys start with the label of format 2 and an empty header.
      const label = sql`substring(${table.wrapped} from 1 for 3) <> '\\x020000'::bytea`;
      return queries.select().from(table).where(label);
    },

    async migrateFormat1(key, wrapped) {
      const left = queries
        .select({ id: secrets.id })
        .from(secrets)
        .where(and(eq(secrets.keyId, key.id), isNotNull(secrets.destination)));
      const rows = await queries
        .update(table)
        .set({ wrapped })
        .where(and(eq(table.id, key.id), eq(table.wrapped, key.wrapped), notExists(left)))
        .returning({ id: table.id });
      return rows.length > 0;
    },

    async rewrap(id, masterKeyId, wrapped) {
      await queries.update(table).set({ masterKeyId, wrapped }).where(eq(table.id, id));
    },
  };
}
