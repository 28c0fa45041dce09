import type { InferSelectModel } from 'drizzle-orm';
import { and, eq, gt, lt } from 'drizzle-orm';
import type { Queries } from './database.js';
import { consents as table } from './tables.js';

/** The consent of a customer to use an account at a vendor, until the connector is saved. */
export type Consent = InferSelectModel<typeof table>;

/**
 * - `created`: no window was sent to the vendor yet
 * - `opened`: the customer is at the vendor
 * - `redeeming`: the vendor has sent the customer back
 * - `granted`, `cancelled`, `failed`: how it ended
 */
export type ConsentStatus = Consent['status'];

/** Consents that are not part of a connector yet. The audit log does not contain them. */
export interface Consents {
  start(consent: Consent): Promise<void>;
  get(id: string): Promise<Consent | undefined>;
  byState(stateDigest: Buffer, now: Date): Promise<Consent | undefined>;
  /**
   * Moves a consent that has not expired to the next status. Returns false if it no longer has the status
   * `from`, so that each step is taken once.
   */
  advance(id: string, from: ConsentStatus, change: Partial<Consent>, now: Date): Promise<boolean>;
  /** Removes a consent that was granted. Returns false if another request has. */
  consume(id: string): Promise<boolean>;
  sweep(now: Date): Promise<void>;
}

export function createConsents(queries: Queries): Consents {
  return {
    async start(consent) {
      await queries.insert(table).values(consent);
    },

    async get(id) {
      const [row] = await queries.select().from(table).where(eq(table.id, id));
      return row;
    },

    async byState(stateDigest, now) {
      const [row] = await queries
        .select()
        .from(table)
        .where(and(eq(table.stateDigest, stateDigest), gt(table.expiresAt, now)));
      return row;
    },

    async advance(id, from, change, now) {
      const rows = await queries
        .update(table)
        .set(change)
        .where(and(eq(table.id, id), eq(table.status, from), gt(table.expiresAt, now)))
        .returning({ id: table.id });
      return rows.length > 0;
    },

    async consume(id) {
      const rows = await queries
        .delete(table)
        .where(and(eq(table.id, id), eq(table.status, 'granted')))
        .returning({ id: table.id });
      return rows.length > 0;
    },

    async sweep(now) {
      await queries.delete(table).where(lt(table.expiresAt, now));
    },
  };
}
