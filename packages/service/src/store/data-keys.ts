import { eq } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { DataKeys } from './store.js';
import { dataKeys as table } from './tables.js';

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

    async rewrap(id, masterKeyId, wrapped) {
      await queries.update(table).set({ masterKeyId, wrapped }).where(eq(table.id, id));
    },
  };
}
