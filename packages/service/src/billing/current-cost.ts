import type { ReadTables } from '../store/store.js';
import { periodOf, type Period } from '../usage/periods.js';
import { statementOf } from './statement.js';
import { storageCosts } from './storage-cost.js';

/** What an organization costs in the current period. */
export interface CurrentCost {
  /**
   * `invoice`: the statement of the billing account that the organization is in. `storage`: what its
   * destinations charge, if it is in no account with a product.
   */
  of: 'invoice' | 'storage';
  /** The account of an invoice. */
  billingAccountId?: string;
  /** The billing cycle, or the calendar month in UTC. */
  period: Period;
  /** Billionths of a US dollar. */
  nanodollars: bigint;
}

type CostTables = Pick<
  ReadTables,
  'billingMembers' | 'billingProducts' | 'billingSubscriptions' | 'organizations' | 'storageTypeCosts' | 'usage'
>;

const NANODOLLARS_PER_CENT = 10_000_000n;

/**
 * Computes the cost of the billing cycle or month that contains `now`, as far as its usage is stored.
 * @param now milliseconds since the epoch
 */
export async function currentCost(tables: CostTables, organizationId: string, now: number): Promise<CurrentCost> {
  const billingAccountId = (await tables.billingMembers.accountsOf([organizationId])).get(organizationId);
  const statement =
    billingAccountId === undefined ? undefined : await statementOf(tables, { id: billingAccountId }, now);
  if (billingAccountId !== undefined && statement)
    return {
      of: 'invoice',
      billingAccountId,
      period: statement.cycle,
      nanodollars: BigInt(statement.totalCents) * NANODOLLARS_PER_CENT,
    };
  const period = periodOf('month', now);
  const costs = await storageCosts(tables, organizationId, period);
  return { of: 'storage', period, nanodollars: costs.reduce((sum, { postFilter }) => sum + postFilter, 0n) };
}
