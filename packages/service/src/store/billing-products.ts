import { and, asc, count, eq, inArray } from 'drizzle-orm';
import type { InferSelectModel } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Page, Rows } from './store.js';
import { billingProducts as table, billingSubscriptions as subscriptions } from './tables.js';

/** What a parent organization sells. */
export type BillingProduct = InferSelectModel<typeof table>;

export interface BillingProducts {
  insert(product: BillingProduct): Promise<void>;
  get(ownerId: string, id: string): Promise<BillingProduct | undefined>;
  /** Returns those of these products that exist, by id. */
  some(ids: readonly string[]): Promise<Map<string, BillingProduct>>;
  /** Reads and locks the row (`FOR UPDATE`) until the transaction ends. */
  lock(ownerId: string, id: string): Promise<BillingProduct | undefined>;
  /** Reads and locks all products of an organization (`FOR UPDATE`) until the transaction ends. */
  lockAll(ownerId: string): Promise<BillingProduct[]>;
  /** @param options `inactive: true` includes those that can't be subscribed to */
  list(ownerId: string, page: Page, options?: { inactive?: boolean }): Promise<Rows<BillingProduct>>;
  /** Returns the product that new accounts get. */
  default(ownerId: string): Promise<BillingProduct | undefined>;
  /** Returns whether any account has, had or will have the product. */
  isUsed(id: string): Promise<boolean>;
  update(product: BillingProduct): Promise<void>;
  remove(id: string): Promise<void>;
}

const own = (ownerId: string) => eq(table.ownerOrganizationId, ownerId);

export function createBillingProducts(queries: Queries): BillingProducts {
  const one = (ownerId: string, id: string) =>
    queries
      .select()
      .from(table)
      .where(and(own(ownerId), eq(table.id, id)));
  return {
    async insert(product) {
      await queries.insert(table).values(product);
    },

    async get(ownerId, id) {
      const [row] = await one(ownerId, id);
      return row;
    },

    async some(ids) {
      if (ids.length === 0) return new Map();
      const rows = await queries
        .select()
        .from(table)
        .where(inArray(table.id, [...ids]));
      return new Map(rows.map((row) => [row.id, row]));
    },

    async lock(ownerId, id) {
      const [row] = await one(ownerId, id).for('update');
      return row;
    },

    lockAll: (ownerId) => queries.select().from(table).where(own(ownerId)).orderBy(table.id).for('update'),

    async list(ownerId, { limit, offset }, { inactive = false } = {}) {
      const condition = and(own(ownerId), inactive ? undefined : eq(table.isActive, true));
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

    async default(ownerId) {
      const [row] = await queries
        .select()
        .from(table)
        .where(and(own(ownerId), eq(table.isDefault, true)));
      return row;
    },

    async isUsed(id) {
      const rows = await queries
        .select({ id: subscriptions.id })
        .from(subscriptions)
        .where(eq(subscriptions.productId, id))
        .limit(1);
      return rows.length > 0;
    },

    async update({ id, ...change }) {
      await queries.update(table).set(change).where(eq(table.id, id));
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },
  };
}
