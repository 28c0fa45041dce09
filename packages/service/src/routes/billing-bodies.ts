import { z } from '@hono/zod-openapi';
import type { Subscribed, SubscriptionState } from '../billing/subscriptions.js';
import { cycleOf, stateAt } from '../billing/subscriptions.js';
import type { BillingAccount } from '../store/billing-accounts.js';
import type { BillingProduct } from '../store/billing-products.js';
import { FREQUENCIES, PRODUCT_TYPES, USAGE_UNITS } from '../store/tables.js';
import { Id } from './schemas.js';

export const Email = z.email().max(254);
export const Cents = z.int().min(0).max(1_000_000_000_000);
export const Timestamp = z.iso.datetime().openapi({ description: 'RFC 3339.' });
/** The account in a path. */
export const Account = z.object({ id: Id.openapi({ description: 'ID of the billing account.' }) });

export const UsageUnit = z.enum(USAGE_UNITS).openapi({
  description: 'What usage is charged by. A gigabyte has 10^9 bytes. Absent: usage costs nothing.',
});

export const ProductBody = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    features: z.array(z.string()),
    contact_email: z.string().optional(),
    product_type: z.enum(PRODUCT_TYPES),
    is_default: z.boolean().openapi({ description: 'New accounts have it.' }),
    is_active: z.boolean().openapi({ description: 'Accounts can subscribe to it.' }),
    recurring_cost_cents: z.int(),
    recurring_frequency: z
      .enum(FREQUENCIES)
      .openapi({ description: 'Length of a billing cycle: a calendar month or year, in UTC.' }),
    usage_unit: UsageUnit.optional(),
    usage_unit_cost_cents: z.int(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('BillingProduct');

const STATUSES = ['active', 'canceling', 'inactive', 'suspended', 'deleted'] as const;

export const AccountBody = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    billing_email: z.string(),
    status: z.enum(STATUSES).openapi({
      description:
        '`canceling`: it has no product after this billing cycle. `inactive`: it has none now. `suspended`: `suspend_on` has passed.',
    }),
    has_payment_method: z.literal(false).openapi({ description: 'The service takes no payments.' }),
    product_id: z.string().optional(),
    product: ProductBody.optional(),
    next_product_id: z.string().optional(),
    next_product: ProductBody.optional(),
    product_change_after: Timestamp.optional().openapi({ description: 'When `next_product` begins. RFC 3339.' }),
    current_billing_cycle_start: Timestamp.optional(),
    current_billing_cycle_end: Timestamp.optional(),
    suspend_on: Timestamp.optional().openapi({
      description: 'From then on, the pipelines of its organizations are suspended. RFC 3339.',
    }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    deleted_at: Timestamp.optional(),
  })
  .openapi('BillingAccount');

export const presentProduct = (product: BillingProduct): z.output<typeof ProductBody> => ({
  id: product.id,
  slug: product.slug,
  name: product.name,
  description: product.description,
  features: product.features,
  ...(product.contactEmail !== null && { contact_email: product.contactEmail }),
  product_type: product.productType,
  is_default: product.isDefault,
  is_active: product.isActive,
  recurring_cost_cents: product.recurringCostCents,
  recurring_frequency: product.recurringFrequency,
  ...(product.usageUnit !== null && { usage_unit: product.usageUnit }),
  usage_unit_cost_cents: product.usageUnitCostCents,
  created_at: product.createdAt.toISOString(),
  updated_at: product.updatedAt.toISOString(),
});

/** @param subscriptions those of the account */
export function presentAccount(
  account: BillingAccount,
  subscriptions: readonly Subscribed[],
  now: number,
): z.output<typeof AccountBody> {
  const state = stateAt(subscriptions, now);
  const { current, next } = state;
  const cycle = current && cycleOf(current, now);
  return {
    id: account.id,
    name: account.name,
    description: account.description,
    billing_email: account.billingEmail,
    status: statusOf(account, state, now),
    has_payment_method: false,
    ...(current && { product_id: current.productId, product: presentProduct(current.product) }),
    ...(next && {
      next_product_id: next.productId,
      next_product: presentProduct(next.product),
      product_change_after: next.startsAt.toISOString(),
    }),
    ...(cycle && {
      current_billing_cycle_start: new Date(cycle.start).toISOString(),
      current_billing_cycle_end: new Date(cycle.end).toISOString(),
    }),
    ...(account.suspendOn && { suspend_on: account.suspendOn.toISOString() }),
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
    ...(account.deletedAt && { deleted_at: account.deletedAt.toISOString() }),
  };
}

function statusOf(
  { deletedAt, suspendOn }: BillingAccount,
  { current, next }: SubscriptionState,
  now: number,
): (typeof STATUSES)[number] {
  if (deletedAt) return 'deleted';
  if (suspendOn && suspendOn.getTime() <= now) return 'suspended';
  if (!current) return 'inactive';
  return current.endsAt !== null && !next ? 'canceling' : 'active';
}
