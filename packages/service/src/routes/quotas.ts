import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { ApiError, invalidRequest, notFound } from '../api-error.js';
import { ownerOf, requireOwner } from '../billing/owner.js';
import { usageOf, type QuotaUsage } from '../billing/quota-usage.js';
import { organizationRoute, route, type Route } from '../http/route.js';
import type { Quota } from '../store/quotas.js';
import type { Tables } from '../store/store.js';
import { LIMIT_TYPES, QUOTA_ACTIONS, TIMEFRAMES } from '../store/tables.js';
import type { RouteContext } from './context.js';
import { Id, Name, Org, PageQuery, Pagination } from './schemas.js';

/** Quotas that one organization may set. */
const MAX_QUOTAS = 10_000;
const tag = 'Quotas';

const fields = {
  name: Name,
  limit_type: z.enum(LIMIT_TYPES).openapi({
    description: '`ingress_bytes`: what inputs receive. `egress_bytes`: what outputs deliver.',
  }),
  limit_unit: z.literal('bytes').default('bytes'),
  limit_amount: z.int().min(0),
  timeframe: z.enum(TIMEFRAMES).openapi({ description: 'A day or a calendar month, in UTC.' }),
  action: z.enum(QUOTA_ACTIONS).openapi({
    description:
      '`DISABLE`: once the limit is reached, pipelines are suspended until the period ends. `NONE`: it is only logged.',
  }),
};

const QuotaBody = z
  .object({
    id: z.string(),
    organization_id: z.string().optional().openapi({ description: 'The organization whose usage is limited.' }),
    billing_account_id: z
      .string()
      .optional()
      .openapi({ description: 'The account whose organizations are limited together.' }),
    ...fields,
    limit_unit: z.literal('bytes'),
    current_usage: z.int().openapi({ description: 'Bytes in the present period.' }),
    current_usage_updated_at: z.iso
      .datetime()
      .openapi({ description: 'Everything until then is in `current_usage`. RFC 3339.' }),
    start_at: z.iso.datetime().openapi({ description: 'Start of the present period. RFC 3339.' }),
    end_at: z.iso.datetime().openapi({ description: 'End of the present period. RFC 3339.' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('Quota');

const QuotaList = z.object({ quotas: z.array(QuotaBody), pagination: Pagination }).openapi('QuotaList');
const OneQuota = z.object({ id: Id });

const example = {
  name: 'Ten gigabytes a day',
  limit_type: 'egress_bytes',
  limit_unit: 'bytes',
  limit_amount: 10_000_000_000,
  timeframe: 'day',
  action: 'DISABLE',
};

/** Routes for limits of what organizations receive and deliver. */
export function quotaRoutes({ store, clock }: RouteContext): Route[] {
  const list = { permission: 'quota:read', session: 'deny', owner: 'account' } as const;
  const read = { permission: 'quota:read', session: 'deny', owner: 'quota' } as const;
  const write = { permission: 'quota:write', session: 'deny', owner: 'quota' } as const;
  /** Only the owner of an account limits it. */
  const create = { permission: 'quota:write', session: 'deny', owner: true } as const;
  const effect = 'A change takes effect within seconds: a higher limit ends a suspension.';

  async function present(quotas: readonly Quota[]): Promise<z.output<typeof QuotaBody>[]> {
    const now = clock.now();
    // Before the usage: it may contain more, never less.
    const writtenAt = (await store.usage.writtenAt()) ?? new Date(now);
    return (await usageOf(store, quotas, now)).map((usage) => presentQuota(usage, writtenAt));
  }

  return [
    route(
      {
        method: 'get',
        path: '/v2/quotas',
        tag,
        operation: 'listQuotas',
        summary: 'List the quotas of an organization, its teams and its billing accounts',
        description: 'A team sees the quotas that limit it.',
        access: list,
        query: PageQuery.extend({
          billing_account_id: Id.optional().openapi({ description: 'Only those of this account.' }),
          organization_id: Id.optional().openapi({ description: 'Only those of this organization.' }),
        }),
        response: { status: 200, description: 'Oldest first.', schema: QuotaList },
      },
      async ({ principal, query: { billing_account_id, organization_id, ...page } }) => {
        const filter = { billingAccountId: billing_account_id, organizationId: organization_id };
        const { rows, total } = await store.quotas.list(ownerOf(principal), page, filter);
        return { status: 200, body: { quotas: await present(rows), pagination: { ...page, total } } };
      },
    ),

    route(
      {
        method: 'post',
        path: '/v2/quotas',
        tag,
        operation: 'createQuota',
        summary: 'Set a quota of an organization or a billing account',
        description: `Exactly one of \`organization_id\` and \`billing_account_id\` is required. Only a parent organization sets quotas. ${effect}`,
        access: create,
        body: z
          .object({ organization_id: Id.optional(), billing_account_id: Id.optional(), ...fields })
          .refine(
            ({ organization_id: id, billing_account_id: account }) => (id === undefined) !== (account === undefined),
            {
              path: ['organization_id'],
              error: 'Give either organization_id or billing_account_id.',
            },
          )
          .openapi('CreateQuota', {
            example: { organization_id: '5d0f2d6f-7d5c-4f0e-9d3e-2d1f3a1b9c11', ...example },
          }),
        response: { status: 200, description: 'The quota.', schema: QuotaBody },
        errorStatuses: [409],
      },
      async ({ principal, body, commit }) => {
        const owner = await requireOwner(principal, store);
        const now = new Date(clock.now());
        const { limit_unit: _unit, organization_id: organizationId, billing_account_id: accountId, ...rest } = body;
        const quota: Quota = {
          id: randomUUID(),
          ownerOrganizationId: owner.id,
          organizationId: organizationId ?? null,
          billingAccountId: accountId ?? null,
          ...columnsOf(rest),
          createdAt: now,
          updatedAt: now,
        };
        await commit(async (tables) => {
          await requireScope(tables, owner.id, {
            ...(organizationId !== undefined && { organization_id: organizationId }),
            ...(accountId !== undefined && { billing_account_id: accountId }),
          });
          if ((await tables.quotas.count(owner.id)) >= MAX_QUOTAS)
            throw new ApiError(409, 'conflict', `An organization has at most ${MAX_QUOTAS} quotas. Delete one first.`);
          await tables.quotas.insert(quota);
          return { status: 204 };
        });
        const [created] = await present([quota]);
        return { status: 200, body: created };
      },
    ),

    route(
      {
        method: 'get',
        path: '/v2/quotas/{id}',
        tag,
        operation: 'readQuota',
        summary: 'Read a quota with what was used of it',
        description: '`current_usage` contains everything until `current_usage_updated_at`.',
        access: read,
        params: OneQuota,
        response: { status: 200, description: 'The quota.', schema: QuotaBody },
      },
      async ({ principal, params }) => {
        const quota = await store.quotas.get(ownerOf(principal), params.id);
        const [found] = quota ? await present([quota]) : [];
        if (!found) throw notFound();
        return { status: 200, body: found };
      },
    ),

    route(
      {
        method: 'put',
        path: '/v2/quotas/{id}',
        tag,
        operation: 'replaceQuota',
        summary: 'Change a quota',
        description: `Replaces everything but the organization or account that it limits. ${effect}`,
        access: write,
        params: OneQuota,
        body: z.object(fields).openapi('ReplaceQuota', { example }),
        response: { status: 200, description: 'The quota.', schema: QuotaBody },
      },
      async ({ principal, params, body: { limit_unit: _unit, ...body }, commit }) => {
        const ownerId = ownerOf(principal);
        let changed: Quota | undefined;
        await commit(async ({ quotas }) => {
          const quota = await quotas.lock(ownerId, params.id);
          if (!quota) throw notFound();
          changed = { ...quota, ...columnsOf(body), updatedAt: new Date(clock.now()) };
          await quotas.update(changed);
          return { status: 204 };
        });
        const [replaced] = changed ? await present([changed]) : [];
        return { status: 200, body: replaced };
      },
    ),

    route(
      {
        method: 'delete',
        path: '/v2/quotas/{id}',
        tag,
        operation: 'deleteQuota',
        summary: 'Delete a quota',
        description: 'Ends a suspension within seconds.',
        access: { permission: 'quota:delete', session: 'deny', owner: 'quota' },
        params: OneQuota,
        response: { status: 204, description: 'The quota was deleted.' },
      },
      ({ principal, params, commit }) =>
        commit(async ({ quotas }) => {
          const quota = await quotas.lock(ownerOf(principal), params.id);
          if (!quota) throw notFound();
          await quotas.remove(quota.id);
          return { status: 204 };
        }),
    ),

    organizationRoute(
      {
        method: 'get',
        path: '/v2/{org}/quotas',
        tag,
        operation: 'listOrganizationQuotas',
        summary: 'List the quotas of one organization',
        description: 'Without those of the billing account it is in.',
        access: { permission: 'pipeline:read', session: 'deny' },
        params: Org,
        query: PageQuery,
        response: { status: 200, description: 'Oldest first.', schema: QuotaList },
      },
      async ({ organization: { id }, query }) => {
        const { rows, total } = await store.quotas.list(id, query, { organizationId: id });
        return { status: 200, body: { quotas: await present(rows), pagination: { ...query, total } } };
      },
    ),
  ];
}

/** @throws ApiError 400 if the organization or the account is not the caller's */
async function requireScope(
  { organizations, billingAccounts }: Pick<Tables, 'organizations' | 'billingAccounts'>,
  ownerId: string,
  { organization_id: id, billing_account_id: accountId }: { organization_id?: string; billing_account_id?: string },
): Promise<void> {
  if (id !== undefined) {
    const organization = await organizations.get(id);
    if (!organization || (organization.id !== ownerId && organization.parentId !== ownerId))
      throw unknown('organization_id', 'organization_id must be your organization or one of its teams.');
  }
  if (accountId !== undefined && !(await billingAccounts.lock(ownerId, accountId)))
    throw unknown('billing_account_id', 'billing_account_id must be one of your billing accounts.');
}

const unknown = (field: string, message: string) =>
  invalidRequest(message, { issues: [{ path: `/${field}`, message: 'Unknown.' }] });

interface QuotaFields {
  name: string;
  limit_type: Quota['limitType'];
  limit_amount: number;
  timeframe: Quota['timeframe'];
  action: Quota['action'];
}

const columnsOf = ({ name, limit_type, limit_amount, timeframe, action }: QuotaFields) => ({
  name,
  limitType: limit_type,
  limitAmount: limit_amount,
  timeframe,
  action,
});

const presentQuota = ({ quota, period, used }: QuotaUsage, writtenAt: Date): z.output<typeof QuotaBody> => ({
  id: quota.id,
  ...(quota.organizationId !== null && { organization_id: quota.organizationId }),
  ...(quota.billingAccountId !== null && { billing_account_id: quota.billingAccountId }),
  name: quota.name,
  limit_type: quota.limitType,
  limit_unit: 'bytes',
  limit_amount: quota.limitAmount,
  timeframe: quota.timeframe,
  action: quota.action,
  current_usage: used,
  current_usage_updated_at: writtenAt.toISOString(),
  start_at: new Date(period.start).toISOString(),
  end_at: new Date(period.end).toISOString(),
  created_at: quota.createdAt.toISOString(),
  updated_at: quota.updatedAt.toISOString(),
});
