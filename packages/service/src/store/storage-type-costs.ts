import { asc, eq } from 'drizzle-orm';
import type { InferSelectModel } from 'drizzle-orm';
import type { Queries } from './database.js';
import { storageTypeCosts as table } from './tables.js';

/** What it costs an organization to store data at destinations of one type. */
export type StorageTypeCost = InferSelectModel<typeof table>;

export interface StorageTypeCosts {
  /** Returns the costs of an organization by type, in alphabetical order. */
  of(organizationId: string): Promise<StorageTypeCost[]>;
  /** Reads and locks them (`FOR UPDATE`) until the transaction ends. */
  lockAll(organizationId: string): Promise<StorageTypeCost[]>;
  insert(cost: StorageTypeCost): Promise<void>;
  update(cost: StorageTypeCost): Promise<void>;
  remove(id: string): Promise<void>;
}

export function createStorageTypeCosts(queries: Queries): StorageTypeCosts {
  const all = (organizationId: string) =>
    queries.select().from(table).where(eq(table.organizationId, organizationId)).orderBy(asc(table.storageType));
  return {
    of: (organizationId) => all(organizationId),
    lockAll: (organizationId) => all(organizationId).for('update'),

    async insert(cost) {
      await queries.insert(table).values(cost);
    },

    async update({ id, nanodollarsPerGb }) {
      await queries.update(table).set({ nanodollarsPerGb }).where(eq(table.id, id));
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },
  };
}
