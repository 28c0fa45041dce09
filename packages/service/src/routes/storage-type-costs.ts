import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { invalidRequest } from '../api-error.js';
import { organizationRoute, type Route } from '../http/route.js';
import type { StorageTypeCost } from '../store/storage-type-costs.js';
import type { RouteContext } from './context.js';
import { Org } from './schemas.js';

/** Highest cost of a gigabyte in US dollars. */
const MAX_COST = 1_000_000;
/** Billionths are exact up to here: `Number` has 53 bits. */
const BILLIONTHS = 1_000_000_000;

const CostPerGb = z
  .number()
  .min(0)
  .max(MAX_COST)
  .refine((cost) => Math.round(cost * BILLIONTHS) / BILLIONTHS === cost, 'Must have at most nine decimals.')
  .openapi({ description: 'US dollars per 10^9 bytes, with at most nine decimals.' });

const Costs = z
  .object({
    organization_id: z.string(),
    costs: z.array(z.object({ id: z.string(), storage_type: z.string(), cost_per_gb: z.number() })),
  })
  .openapi('StorageTypeCosts');

/** Routes for what storage costs an organization, by type of output. */
export function storageTypeCostRoutes({ store, catalog }: RouteContext): Route[] {
  const shared = { path: '/v2/{org}/storage-type-cost', tag: 'Usage', params: Org } as const;
  const response = { status: 200, description: 'In the order of the types.', schema: Costs } as const;
  const outputTypes = new Set(catalog.list('output').map(({ type_id: id }) => id));

  return [
    organizationRoute(
      {
        ...shared,
        method: 'get',
        operation: 'readStorageTypeCosts',
        summary: 'Read what storage costs, by type of output',
        description: 'Types without a cost are left out: they count as free.',
        access: { permission: 'organization:read', session: 'deny' },
        response,
      },
      async ({ organization }) => ({
        status: 200,
        body: present(organization.id, await store.storageTypeCosts.of(organization.id)),
      }),
    ),

    organizationRoute(
      {
        ...shared,
        method: 'put',
        operation: 'replaceStorageTypeCosts',
        summary: 'Set what storage costs, by type of output',
        description: 'Replaces all costs. They apply to usage in the past, too.',
        access: { permission: 'organization:write', session: 'deny' },
        body: z
          .object({ costs: z.record(z.string(), z.object({ cost_per_gb: CostPerGb })) })
          .openapi('SetStorageTypeCosts', { example: { costs: { s3: { cost_per_gb: 0.023 } } } }),
        response,
      },
      ({ organization: { id: organizationId }, body: { costs }, commit }) => {
        const unknown = Object.keys(costs).filter((type) => !outputTypes.has(type));
        if (unknown.length > 0)
          throw invalidRequest('There is no output of this type. `GET /v1/outputs` lists the types.', {
            issues: unknown.slice(0, 20).map((type) => ({ path: `/costs/${type}`, message: 'Unknown.' })),
          });
        return commit(async ({ organizations, storageTypeCosts }) => {
          // Two requests at once would both insert a cost that is new.
          await organizations.lock(organizationId);
          const before = await storageTypeCosts.lockAll(organizationId);
          const after = Object.entries(costs).map(([storageType, { cost_per_gb: cost }]): StorageTypeCost => ({
            id: before.find((each) => each.storageType === storageType)?.id ?? randomUUID(),
            organizationId,
            storageType,
            nanodollarsPerGb: Math.round(cost * BILLIONTHS),
          }));
          for (const row of before.filter(({ id }) => !after.some((each) => each.id === id)))
            await storageTypeCosts.remove(row.id);
          for (const row of after) {
            const known = before.find(({ id }) => id === row.id);
            if (!known) await storageTypeCosts.insert(row);
            else if (known.nanodollarsPerGb !== row.nanodollarsPerGb) await storageTypeCosts.update(row);
          }
          const sorted = after.toSorted((a, b) => (a.storageType < b.storageType ? -1 : 1));
          return { status: 200, body: present(organizationId, sorted) };
        });
      },
    ),
  ];
}

const present = (organizationId: string, costs: readonly StorageTypeCost[]): z.output<typeof Costs> => ({
  organization_id: organizationId,
  costs: costs.map(({ id, storageType, nanodollarsPerGb }) => ({
    id,
    storage_type: storageType,
    cost_per_gb: nanodollarsPerGb / BILLIONTHS,
  })),
});
