import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { ApiError, invalidRequest, notFound } from '../api-error.js';
import { ownerOf, requireOwner } from '../billing/owner.js';
import { route, type Route } from '../http/route.js';
import type { BillingProduct } from '../store/billing-products.js';
import { FREQUENCIES, PRODUCT_TYPES } from '../store/tables.js';
import { Cents, Email, presentProduct, ProductBody, UsageUnit } from './billing-bodies.js';
import type { RouteContext } from './context.js';
import { Id, Name, PageQuery, Pagination } from './schemas.js';

const tag = 'Billing';
const Product = z.object({ id: Id.openapi({ description: 'ID of the product.' }) });

const texts = {
  name: Name,
  description: z.string().max(2_000),
  features: z.array(z.string().trim().min(1).max(200)).max(50),
  contact_email: Email.nullable(),
  is_default: z.boolean().openapi({ description: 'New accounts have it. Another default product is one no longer.' }),
  is_active: z.boolean().openapi({ description: 'Accounts can subscribe to it.' }),
};
const prices = {
  recurring_cost_cents: Cents,
  recurring_frequency: z.enum(FREQUENCIES),
  usage_unit: UsageUnit.nullable(),
  usage_unit_cost_cents: Cents,
};
const Slug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'Must be lower-case letters, digits and hyphens.');

const example = {
  slug: 'team-2030',
  name: 'Team',
  recurring_cost_cents: 4_900,
  usage_unit: 'egress_gb',
  usage_unit_cost_cents: 25,
} as const;

/** Routes for the products that a parent organization sells. */
export function billingProductRoutes({ store, clock }: RouteContext): Route[] {
  const write = { permission: 'billing_product:write', session: 'deny', owner: true } as const;
  const answer = { status: 200, description: 'The product.', schema: ProductBody } as const;

  return [
    route(
      {
        method: 'get',
        path: '/v2/billing/products',
        tag,
        operation: 'listBillingProducts',
        summary: 'List the products of an organization',
        description: 'The products that a parent organization sells to its teams.',
        access: { permission: 'billing_account:read', session: 'deny', owner: true },
        query: PageQuery.extend({
          show_inactive: z
            .enum(['true', 'false'])
            .default('false')
            .openapi({ description: 'Also those that accounts can no longer subscribe to.' }),
        }),
        response: {
          status: 200,
          description: 'Oldest first.',
          schema: z
            .object({ billing_products: z.array(ProductBody), pagination: Pagination })
            .openapi('BillingProductList'),
        },
      },
      async ({ principal, query: { show_inactive, ...page } }) => {
        const options = { inactive: show_inactive === 'true' };
        const { rows, total } = await store.billingProducts.list(ownerOf(principal), page, options);
        return {
          status: 200,
          body: { billing_products: rows.map(presentProduct), pagination: { ...page, total } },
        };
      },
    ),

    route(
      {
        method: 'post',
        path: '/v2/billing/products',
        tag,
        operation: 'createBillingProduct',
        summary: 'Create a product',
        description: 'Costs are in US cents. Only a parent organization creates products.',
        access: write,
        body: z
          .object({
            slug: Slug,
            name: texts.name,
            description: texts.description.default(''),
            features: texts.features.default([]),
            contact_email: texts.contact_email.default(null),
            product_type: z.enum(PRODUCT_TYPES).default('custom'),
            is_default: texts.is_default.default(false),
            is_active: texts.is_active.default(true),
            recurring_cost_cents: prices.recurring_cost_cents.default(0),
            recurring_frequency: prices.recurring_frequency.default('month'),
            usage_unit: prices.usage_unit.default(null),
            usage_unit_cost_cents: prices.usage_unit_cost_cents.default(0),
          })
          .openapi('CreateBillingProduct', { example }),
        response: answer,
        errorStatuses: [409],
      },
      async ({ principal, body, commit }) => {
        const owner = await requireOwner(principal, store);
        const now = new Date(clock.now());
        const product: BillingProduct = {
          id: randomUUID(),
          ownerOrganizationId: owner.id,
          slug: body.slug,
          name: body.name,
          description: body.description,
          features: body.features,
          contactEmail: body.contact_email,
          productType: body.product_type,
          isDefault: body.is_default,
          isActive: body.is_active,
          recurringCostCents: body.recurring_cost_cents,
          recurringFrequency: body.recurring_frequency,
          usageUnit: body.usage_unit,
          usageUnitCostCents: body.usage_unit_cost_cents,
          createdAt: now,
          updatedAt: now,
        };
        requireUsable(product);
        return commit(async ({ organizations, billingProducts }) => {
          // The lock keeps two requests from creating the same slug, or two default products.
          await organizations.lock(owner.id);
          const others = await billingProducts.lockAll(owner.id);
          if (others.some(({ slug }) => slug === product.slug))
            throw new ApiError(409, 'conflict', 'Another product has this slug.', { details: { slug: product.slug } });
          for (const other of others)
            if (product.isDefault && other.isDefault)
              await billingProducts.update({ ...other, isDefault: false, updatedAt: now });
          await billingProducts.insert(product);
          return { status: 200, body: presentProduct(product) };
        });
      },
    ),

    route(
      {
        method: 'patch',
        path: '/v2/billing/products/{id}',
        tag,
        operation: 'changeBillingProduct',
        summary: 'Update a product; absent properties are kept',
        description: 'Costs can be changed as long as no account has ever had the product. Then create another one.',
        access: write,
        params: Product,
        body: z
          .object({ ...texts, ...prices })
          .partial()
          .openapi('ChangeBillingProduct', { example: { is_active: false } }),
        response: answer,
        errorStatuses: [409],
      },
      ({ principal, params, body, commit }) =>
        commit(async ({ organizations, billingProducts }) => {
          const ownerId = ownerOf(principal);
          await organizations.lock(ownerId);
          const all = await billingProducts.lockAll(ownerId);
          const product = all.find(({ id }) => id === params.id);
          if (!product) throw notFound();
          const now = new Date(clock.now());
          const changed: BillingProduct = {
            ...product,
            ...(body.name !== undefined && { name: body.name }),
            ...(body.description !== undefined && { description: body.description }),
            ...(body.features && { features: body.features }),
            ...(body.contact_email !== undefined && { contactEmail: body.contact_email }),
            ...(body.is_default !== undefined && { isDefault: body.is_default }),
            ...(body.is_active !== undefined && { isActive: body.is_active }),
            ...(body.recurring_cost_cents !== undefined && { recurringCostCents: body.recurring_cost_cents }),
            ...(body.recurring_frequency && { recurringFrequency: body.recurring_frequency }),
            ...(body.usage_unit !== undefined && { usageUnit: body.usage_unit }),
            ...(body.usage_unit_cost_cents !== undefined && { usageUnitCostCents: body.usage_unit_cost_cents }),
            updatedAt: now,
          };
          requireUsable(changed);
          if (!hasSamePrices(product, changed) && (await billingProducts.isUsed(product.id)))
            throw new ApiError(409, 'conflict', 'An account has or had this product. Create another one instead.');
          for (const other of all)
            if (changed.isDefault && other.isDefault && other.id !== product.id)
              await billingProducts.update({ ...other, isDefault: false, updatedAt: now });
          await billingProducts.update(changed);
          return { status: 200, body: presentProduct(changed) };
        }),
    ),

    route(
      {
        method: 'delete',
        path: '/v2/billing/products/{id}',
        tag,
        operation: 'deleteBillingProduct',
        summary: 'Delete a product that no account has ever had',
        description: 'One that an account had stays, for its statements. Make it inactive instead.',
        access: { permission: 'billing_product:delete', session: 'deny', owner: true },
        params: Product,
        response: { status: 204, description: 'The product was deleted.' },
        errorStatuses: [409],
      },
      ({ principal, params, commit }) =>
        commit(async ({ billingProducts }) => {
          // The lock keeps accounts from subscribing to it.
          const product = await billingProducts.lock(ownerOf(principal), params.id);
          if (!product) throw notFound();
          if (await billingProducts.isUsed(product.id))
            throw new ApiError(409, 'conflict', 'An account has or had this product. Make it inactive instead.');
          await billingProducts.remove(product.id);
          return { status: 204 };
        }),
    ),
  ];
}

/** @throws ApiError 400 */
function requireUsable({ isActive, isDefault, usageUnit, usageUnitCostCents }: BillingProduct): void {
  if (isDefault && !isActive)
    throw invalidRequest('New accounts have the default product, so it must be active.', {
      issues: [{ path: '/is_active', message: 'Must be true.' }],
    });
  if (usageUnit === null && usageUnitCostCents > 0)
    throw invalidRequest('usage_unit says what usage_unit_cost_cents is for.', {
      issues: [{ path: '/usage_unit', message: 'Required.' }],
    });
}

const hasSamePrices = (one: BillingProduct, other: BillingProduct): boolean =>
  one.recurringCostCents === other.recurringCostCents &&
  one.recurringFrequency === other.recurringFrequency &&
  one.usageUnit === other.usageUnit &&
  one.usageUnitCostCents === other.usageUnitCostCents;
