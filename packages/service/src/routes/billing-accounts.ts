import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { ApiError, invalidRequest, notFound } from '../api-error.js';
import { ownerOf, requireOwner } from '../billing/owner.js';
import { cancel, endSubscriptions, hourStart, subscribe, withProducts } from '../billing/subscriptions.js';
import { organizationOf, type Principal } from '../auth/principal.js';
import { route, type Route } from '../http/route.js';
import type { BillingAccount } from '../store/billing-accounts.js';
import type { ReadTables, Tables } from '../store/store.js';
import { Account, AccountBody, Email, presentAccount, ProductBody } from './billing-bodies.js';
import type { RouteContext } from './context.js';
import { Id, Instant, Name, NamedOrganization, PageQuery, Pagination } from './schemas.js';

const tag = 'Billing';
/** Organizations that a rejected deletion names. */
const MOST_NAMED = 20;

const fields = {
  name: Name,
  description: z.string().max(2_000),
  billing_email: Email,
};
const Member = Account.extend({ organization_id: Id.openapi({ description: 'You, or one of your teams.' }) });
const example = { name: 'Acme, Inc.', billing_email: 'billing@acme.example' };

/** Routes for billing accounts: which organizations are billed together, and for which product. */
export function billingAccountRoutes({ store, clock, checkoutUrl }: RouteContext): Route[] {
  const read = { permission: 'billing_account:read', session: 'deny', owner: 'account' } as const;
  const write = { permission: 'billing_account:write', session: 'deny', owner: 'account' } as const;
  /** Only for the owner: a role of one account must not move organizations out of another. */
  const decide = { permission: 'billing_account:write', session: 'deny', owner: true } as const;
  const answer = { status: 200, description: 'The account.', schema: AccountBody } as const;

  async function present(
    tables: Pick<ReadTables, 'billingProducts' | 'billingSubscriptions'>,
    accounts: readonly BillingAccount[],
  ): Promise<z.output<typeof AccountBody>[]> {
    const rows = await tables.billingSubscriptions.ofAccounts(accounts.map(({ id }) => id));
    const subscriptions = await withProducts(tables, rows);
    return accounts.map((account) =>
      presentAccount(
        account,
        subscriptions.filter(({ billingAccountId }) => billingAccountId === account.id),
        clock.now(),
      ),
    );
  }

  async function answerWith(tables: Tables, account: BillingAccount) {
    const [body] = await present(tables, [account]);
    return { status: 200, body } as const;
  }

  /** Returns an account of the caller, also a deleted one. */
  async function find(principal: Principal, id: string): Promise<BillingAccount> {
    const account = await store.billingAccounts.get(ownerOf(principal), id);
    if (!account) throw notFound();
    return account;
  }

  return [
    route(
      {
        method: 'get',
        path: '/v2/billing/accounts',
        tag,
        operation: 'listBillingAccounts',
        summary: 'List the billing accounts of an organization',
        description:
          'A parent organization sees its accounts; a user also sees the accounts on which they have a role. Deleted accounts are left out.',
        access: read,
        query: PageQuery,
        response: {
          status: 200,
          description: 'Oldest first.',
          schema: z
            .object({ billing_accounts: z.array(AccountBody), pagination: Pagination })
            .openapi('BillingAccountList'),
        },
      },
      async ({ principal, query }) => {
        const ids = principal.type === 'user' ? principal.billingAccountIds : undefined;
        const owner = ids ? organizationOf(principal) : ownerOf(principal);
        const { rows, total } = await store.billingAccounts.list(owner, query, ids);
        return {
          status: 200,
          body: { billing_accounts: await present(store, rows), pagination: { ...query, total } },
        };
      },
    ),

    route(
      {
        method: 'post',
        path: '/v2/billing/accounts',
        tag,
        operation: 'createBillingAccount',
        summary: 'Create a billing account',
        description: 'It has the default product, if there is one. Only a parent organization creates accounts.',
        access: decide,
        body: z
          .object({ ...fields, description: fields.description.default('') })
          .openapi('CreateBillingAccount', { example }),
        response: answer,
      },
      async ({ principal, body, commit }) => {
        const owner = await requireOwner(principal, store);
        const now = new Date(clock.now());
        const account: BillingAccount = {
          id: randomUUID(),
          ownerOrganizationId: owner.id,
          name: body.name,
          description: body.description,
          billingEmail: body.billing_email,
          suspendOn: null,
          createdAt: now,
          updatedAt: now,
          deletedAt: null,
        };
        return commit(async (tables) => {
          await tables.billingAccounts.insert(account);
          const product = await tables.billingProducts.default(owner.id);
          if (product) await subscribe(tables, account, product.id, now.getTime());
          return answerWith(tables, account);
        });
      },
    ),

    route(
      {
        method: 'get',
        path: '/v2/billing/accounts/{id}',
        tag,
        operation: 'readBillingAccount',
        summary: 'Read a billing account',
        description: 'Also one that was deleted.',
        access: read,
        params: Account,
        response: answer,
      },
      async ({ principal, params }) => {
        const [body] = await present(store, [await find(principal, params.id)]);
        return { status: 200, body };
      },
    ),

    route(
      {
        method: 'patch',
        path: '/v2/billing/accounts/{id}',
        tag,
        operation: 'changeBillingAccount',
        summary: 'Update or suspend a billing account; absent properties are kept',
        description:
          '`suspend_on` holds the pipelines of its organizations back from that time on; null ends that within seconds.',
        access: write,
        params: Account,
        body: z
          .object({
            name: fields.name.optional(),
            description: fields.description.optional(),
            billing_email: fields.billing_email.optional(),
            suspend_on: Instant.nullable()
              .optional()
              .openapi({
                type: ['string', 'null'],
                format: 'date-time',
                description: 'When the pipelines of its organizations are suspended. Null: never. RFC 3339.',
              }),
          })
          .openapi('ChangeBillingAccount', { example: { suspend_on: '2030-01-31T00:00:00Z' } }),
        response: answer,
      },
      ({ principal, params, body, commit }) =>
        commit(async (tables) => {
          const account = await lock(tables, principal, params.id);
          const changed: BillingAccount = {
            ...account,
            ...(body.name !== undefined && { name: body.name }),
            ...(body.description !== undefined && { description: body.description }),
            ...(body.billing_email !== undefined && { billingEmail: body.billing_email }),
            ...(body.suspend_on !== undefined && { suspendOn: body.suspend_on }),
            updatedAt: new Date(clock.now()),
          };
          await tables.billingAccounts.update(changed);
          return answerWith(tables, changed);
        }),
    ),

    route(
      {
        method: 'delete',
        path: '/v2/billing/accounts/{id}',
        tag,
        operation: 'deleteBillingAccount',
        summary: 'Delete a billing account without organizations',
        description: 'Ends its subscription. The account and its statements can still be read.',
        access: { permission: 'billing_account:delete', session: 'deny', owner: 'account' },
        params: Account,
        response: answer,
        errorStatuses: [409],
      },
      ({ principal, params, commit }) =>
        commit(async (tables) => {
          const account = await lock(tables, principal, params.id);
          const { rows, total } = await tables.billingMembers.list(account.id, { limit: MOST_NAMED, offset: 0 });
          if (total > 0)
            throw new ApiError(409, 'conflict', 'Organizations are in this account. Remove them first.', {
              details: { organizations: rows, total },
            });
          const now = new Date(clock.now());
          await endSubscriptions(tables, account, now.getTime());
          await removeQuotas(tables, account);
          const deleted = { ...account, deletedAt: now, updatedAt: now };
          await tables.billingAccounts.update(deleted);
          return answerWith(tables, deleted);
        }),
    ),

    route(
      {
        method: 'get',
        path: '/v2/billing/accounts/{id}/organizations',
        tag,
        operation: 'listBillingAccountOrganizations',
        summary: 'List the organizations that are in a billing account',
        description: 'Those that are in it now. An organization is in at most one account.',
        access: read,
        params: Account,
        query: PageQuery,
        response: {
          status: 200,
          description: 'In the order of their names.',
          schema: z
            .object({ organizations: z.array(NamedOrganization), pagination: Pagination })
            .openapi('BillingAccountOrganizationList'),
        },
      },
      async ({ principal, params, query }) => {
        const account = await find(principal, params.id);
        const { rows, total } = await store.billingMembers.list(account.id, query);
        return { status: 200, body: { organizations: rows, pagination: { ...query, total } } };
      },
    ),

    route(
      {
        method: 'put',
        path: '/v2/billing/accounts/{id}/organizations/{organization_id}',
        tag,
        operation: 'addBillingAccountOrganization',
        summary: 'Put an organization into a billing account',
        description: 'Takes it from the account that it is in. Its usage of this hour is billed to the new one.',
        access: decide,
        params: Member,
        response: { status: 204, description: 'It is in the account.' },
      },
      ({ principal, params, commit }) =>
        commit(async (tables) => {
          const account = await lock(tables, principal, params.id);
          const member = await lockMember(tables, account, params.organization_id);
          if (member?.billingAccountId === account.id) return { status: 204 };
          const startsAt = hourStart(clock.now());
          if (member) await tables.billingMembers.update({ ...member, endsAt: startsAt });
          await tables.billingMembers.insert({
            id: randomUUID(),
            ownerOrganizationId: account.ownerOrganizationId,
            billingAccountId: account.id,
            organizationId: params.organization_id,
            startsAt,
            endsAt: null,
          });
          return { status: 204 };
        }),
    ),

    route(
      {
        method: 'delete',
        path: '/v2/billing/accounts/{id}/organizations/{organization_id}',
        tag,
        operation: 'removeBillingAccountOrganization',
        summary: 'Take an organization from a billing account',
        description: 'Its usage until this hour stays in the statements of the account.',
        access: decide,
        params: Member,
        response: { status: 204, description: 'It is not in the account.' },
      },
      ({ principal, params, commit }) =>
        commit(async (tables) => {
          const account = await lock(tables, principal, params.id);
          const member = await lockMember(tables, account, params.organization_id);
          if (member?.billingAccountId !== account.id) throw notFound();
          await tables.billingMembers.update({ ...member, endsAt: hourStart(clock.now()) });
          return { status: 204 };
        }),
    ),

    route(
      {
        method: 'get',
        path: '/v2/billing/accounts/{id}/subscription',
        tag,
        operation: 'readBillingSubscription',
        summary: 'Read the product that a billing account has',
        description: '`GET /v2/billing/accounts/{id}` also says which product follows.',
        access: read,
        params: Account,
        response: { status: 200, description: 'The product. 404 if it has none.', schema: ProductBody },
      },
      async ({ principal, params }) => {
        const [body] = await present(store, [await find(principal, params.id)]);
        if (!body?.product) throw notFound();
        return { status: 200, body: body.product };
      },
    ),

    route(
      {
        method: 'post',
        path: '/v2/billing/accounts/{id}/subscription',
        tag,
        operation: 'createBillingSubscription',
        summary: 'Subscribe a billing account to a product',
        description:
          'Takes effect at once if the account has no product, otherwise at the end of its billing cycle. The service takes no payments: `checkout_url` is a page of the operator, if BILLING_CHECKOUT_URL is set.',
        access: write,
        params: Account,
        body: z
          .object({ product_id: Id })
          .openapi('CreateBillingSubscription', { example: { product_id: '0b9f1f6e-3c0f-4c55-9d2f-1c0a7c0f4b7e' } }),
        response: {
          status: 200,
          description: 'Where the product is paid for.',
          schema: z.object({ checkout_url: z.string().optional() }).openapi('BillingCheckout'),
        },
      },
      ({ principal, params, body, commit }) =>
        commit(async (tables) => {
          const account = await lock(tables, principal, params.id);
          const product = await subscribe(tables, account, body.product_id, clock.now());
          if (typeof product === 'string')
            throw invalidRequest('product_id must be one of your active products.', {
              issues: [{ path: '/product_id', message: product === 'unknown' ? 'Unknown.' : 'Not active.' }],
            });
          const url = checkoutUrl
            ?.replaceAll('{billing_account_id}', encodeURIComponent(account.id))
            .replaceAll('{product_id}', encodeURIComponent(product.id));
          return { status: 200, body: url === undefined ? {} : { checkout_url: url } };
        }),
    ),

    route(
      {
        method: 'delete',
        path: '/v2/billing/accounts/{id}/subscription',
        tag,
        operation: 'cancelBillingSubscription',
        summary: 'Cancel the subscription of a billing account',
        description:
          'It ends with the billing cycle. Then the account has the default product, if there is another one.',
        access: write,
        params: Account,
        response: { status: 204, description: 'The subscription ends with the cycle.' },
      },
      ({ principal, params, commit }) =>
        commit(async (tables) => {
          const account = await lock(tables, principal, params.id);
          if (!(await cancel(tables, account, clock.now()))) throw notFound();
          return { status: 204 };
        }),
    ),
  ];
}

async function removeQuotas({ quotas }: Tables, { id, ownerOrganizationId }: BillingAccount): Promise<void> {
  for (;;) {
    const { rows } = await quotas.list(ownerOrganizationId, { limit: 1_000, offset: 0 }, { billingAccountId: id });
    if (rows.length === 0) return;
    for (const row of rows) {
      await quotas.lock(ownerOrganizationId, row.id);
      await quotas.remove(row.id);
    }
  }
}

async function lock({ billingAccounts }: Tables, principal: Principal, id: string): Promise<BillingAccount> {
  const account = await billingAccounts.lock(ownerOf(principal), id);
  if (!account) throw notFound();
  return account;
}

/** Locks an organization that the owner may put into an account, and returns the account it is in. */
async function lockMember(tables: Tables, { ownerOrganizationId }: BillingAccount, organizationId: string) {
  const organization = await tables.organizations.lock(organizationId);
  if (organization?.id !== ownerOrganizationId && organization?.parentId !== ownerOrganizationId) throw notFound();
  return tables.billingMembers.lock(organizationId);
}
