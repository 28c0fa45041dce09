import { randomUUID } from 'node:crypto';
import type { BillingAccount, BillingSubscription } from '../store/billing-accounts.js';
import type { BillingProduct } from '../store/billing-products.js';
import type { ReadTables, Tables } from '../store/store.js';
import { HOUR, periodOf, type Period } from '../usage/periods.js';

/** A subscription whose product is known. */
export interface Subscribed extends BillingSubscription {
  product: BillingProduct;
}

/** The subscriptions of an account at one time. */
export interface SubscriptionState {
  current: Subscribed | undefined;
  /** Begins when the current one ends. */
  next: Subscribed | undefined;
}

type SubscriptionTables = Pick<Tables, 'billingProducts' | 'billingSubscriptions'>;

const isAt = ({ startsAt, endsAt }: BillingSubscription, time: number): boolean =>
  startsAt.getTime() <= time && (endsAt === null || time < endsAt.getTime());

/** @param all the subscriptions of one account */
export function stateAt(all: readonly Subscribed[], time: number): SubscriptionState {
  return {
    current: all.find((each) => isAt(each, time)),
    next: all.find((each) => each.startsAt.getTime() > time),
  };
}

/**
 * Returns the billing cycle of a subscription at a time: the calendar month or year in UTC, from the
 * begin of the subscription on.
 */
export function cycleOf({ product, startsAt, endsAt }: Subscribed, time: number): Period {
  const { start, end } = periodOf(product.recurringFrequency, time);
  return {
    start: Math.max(start, startsAt.getTime()),
    end: endsAt === null ? end : Math.min(end, endsAt.getTime()),
  };
}

/** Adds their products to subscriptions. */
export async function withProducts(
  { billingProducts }: Pick<ReadTables, 'billingProducts'>,
  rows: readonly BillingSubscription[],
): Promise<Subscribed[]> {
  const products = await billingProducts.some([...new Set(rows.map(({ productId }) => productId))]);
  return rows.flatMap((row) => {
    const product = products.get(row.productId);
    return product ? [{ ...row, product }] : [];
  });
}

/** Returns the last full hour: usage belongs to a product or an account by whole hours. */
export const hourStart = (time: number): Date => new Date(Math.floor(time / HOUR) * HOUR);

/**
 * Gives an account a product: at once if it has none, otherwise when its billing cycle ends. The
 * product that it has now ends a change that was planned. The caller holds a lock on the account.
 * @returns the product, or why the account can't have it
 */
export async function subscribe(
  tables: SubscriptionTables,
  account: Pick<BillingAccount, 'id' | 'ownerOrganizationId'>,
  productId: string,
  now: number,
): Promise<BillingProduct | 'unknown' | 'inactive'> {
  const { billingProducts, billingSubscriptions } = tables;
  const all = await withProducts(tables, await billingSubscriptions.lockAll(account.id));
  const { current, next } = stateAt(all, now);
  // The lock keeps the product from being deleted, and its prices from being changed.
  const product = await billingProducts.lock(account.ownerOrganizationId, productId);
  if (!product) return 'unknown';
  if (!product.isActive && current?.productId !== product.id) return 'inactive';
  if (next) await billingSubscriptions.remove(next.id);
  if (current?.productId === product.id) {
    if (current.endsAt !== null) await billingSubscriptions.update({ ...rowOf(current), endsAt: null });
    return product;
  }
  const startsAt = current ? new Date(periodOf(current.product.recurringFrequency, now).end) : hourStart(now);
  if (current) await billingSubscriptions.update({ ...rowOf(current), endsAt: startsAt });
  await billingSubscriptions.insert({
    id: randomUUID(),
    ownerOrganizationId: account.ownerOrganizationId,
    billingAccountId: account.id,
    productId: product.id,
    startsAt,
    endsAt: null,
  });
  return product;
}

/**
 * Ends the subscription of an account when its billing cycle ends. Then it has the default product, if
 * there is another one. Returns whether it had a subscription. The caller holds a lock on the account.
 */
export async function cancel(
  tables: SubscriptionTables,
  account: Pick<BillingAccount, 'id' | 'ownerOrganizationId'>,
  now: number,
): Promise<boolean> {
  const { billingProducts, billingSubscriptions } = tables;
  const all = await withProducts(tables, await billingSubscriptions.lockAll(account.id));
  const { current, next } = stateAt(all, now);
  if (!current) return false;
  const fallback = await billingProducts.default(account.ownerOrganizationId);
  if (fallback && fallback.id !== current.productId) {
    if (next?.productId === fallback.id) return true;
    if (typeof (await subscribe(tables, account, fallback.id, now)) === 'object') return true;
  }
  if (next) await billingSubscriptions.remove(next.id);
  const endsAt = new Date(periodOf(current.product.recurringFrequency, now).end);
  await billingSubscriptions.update({ ...rowOf(current), endsAt });
  return true;
}

/** Ends the subscription of an account that is deleted. The caller holds a lock on the account. */
export async function endSubscriptions(
  tables: SubscriptionTables,
  { id }: Pick<BillingAccount, 'id'>,
  now: number,
): Promise<void> {
  const { billingSubscriptions } = tables;
  const all = await withProducts(tables, await billingSubscriptions.lockAll(id));
  const { current, next } = stateAt(all, now);
  if (next) await billingSubscriptions.remove(next.id);
  if (current) await billingSubscriptions.update({ ...rowOf(current), endsAt: hourStart(now) });
}

const rowOf = ({ product: _product, ...row }: Subscribed): BillingSubscription => row;
