import { z } from '@hono/zod-openapi';
import { notFound } from '../api-error.js';
import { ownerOf } from '../billing/owner.js';
import { statementOf, type Statement } from '../billing/statement.js';
import { route, type Route } from '../http/route.js';
import { Amount } from '../pipelines/state-body.js';
import type { BillingAccount } from '../store/billing-accounts.js';
import { Account, presentProduct, ProductBody, Timestamp } from './billing-bodies.js';
import type { RouteContext } from './context.js';
import { Instant } from './schemas.js';

const Line = z
  .object({
    kind: z.enum(['recurring', 'usage']),
    unit: z.string().openapi({ description: '`month` or `year`, or the usage unit of the product.' }),
    quantity: z.int().openapi({ description: 'Bytes or records that were used; 1 for the recurring cost.' }),
    unit_size: z.int().openapi({ description: 'Bytes or records in a unit.' }),
    unit_cost_cents: z.int(),
    amount_cents: z.int().openapi({ description: '`quantity` x `unit_cost_cents` / `unit_size`, rounded half up.' }),
  })
  .openapi('StatementLine');

const StatementBody = z
  .object({
    billing_account_id: z.string(),
    product: ProductBody,
    start_at: Timestamp,
    end_at: Timestamp,
    is_final: z.boolean().openapi({ description: 'The cycle has ended, and all of its usage is in it.' }),
    currency: z.literal('USD'),
    lines: z.array(Line),
    total_cents: z.int().openapi({ description: 'Sum of the lines.' }),
    usage: z
      .array(
        z.object({
          organization_id: z.string(),
          organization_name: z.string().optional().openapi({ description: 'Absent if it was deleted.' }),
          ingress: Amount,
          egress: Amount,
        }),
      )
      .openapi({ description: 'Usage of each organization while it was in the account.' }),
  })
  .openapi('BillingStatement');

/** The route for the statements of billing accounts. */
export function billingStatementRoutes({ store, clock }: RouteContext): Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/v2/billing/accounts/{id}/statement',
        tag: 'Billing',
        operation: 'readBillingStatement',
        summary: 'Read what a billing account owes for a billing cycle',
        description: 'Computed from the stored usage. Of the present cycle: what it owes so far.',
        access: { permission: 'billing_account:read', session: 'deny', owner: 'account' },
        params: Account,
        query: z.object({
          at: Instant.optional().openapi({
            type: 'string',
            format: 'date-time',
            description: 'Any time in the cycle. Default: now. RFC 3339.',
          }),
        }),
        response: {
          status: 200,
          description: 'The statement. 404 if the account had no product then.',
          schema: StatementBody,
        },
      },
      async ({ principal, params, query }) => {
        const account = await store.billingAccounts.get(ownerOf(principal), params.id);
        const statement = account && (await statementOf(store, account, query.at?.getTime() ?? clock.now()));
        if (!statement) throw notFound();
        return { status: 200, body: present(account, statement) };
      },
    ),
  ];
}

function present(account: BillingAccount, statement: Statement): z.output<typeof StatementBody> {
  const { product, cycle, isFinal, lines, totalCents, usage } = statement;
  return {
    billing_account_id: account.id,
    product: presentProduct(product),
    start_at: new Date(cycle.start).toISOString(),
    end_at: new Date(cycle.end).toISOString(),
    is_final: isFinal,
    currency: 'USD',
    lines: lines.map(({ kind, unit, quantity, unitSize, unitCostCents, amountCents }) => ({
      kind,
      unit,
      quantity,
      unit_size: unitSize,
      unit_cost_cents: unitCostCents,
      amount_cents: amountCents,
    })),
    total_cents: totalCents,
    usage: usage.map(({ organizationId, organizationName, ingress, egress }) => ({
      organization_id: organizationId,
      ...(organizationName !== undefined && { organization_name: organizationName }),
      ingress,
      egress,
    })),
  };
}
