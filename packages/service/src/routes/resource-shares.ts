import { z } from '@hono/zod-openapi';
import { organizationRoute, type OrganizationCall, type ResponseData, type Route } from '../http/route.js';
import { changeShares, requireResource, type ShareChanges } from '../sharing/change-shares.js';
import type { Resource } from '../store/resource-shares.js';
import type { RouteContext } from './context.js';
import { Id, PageQuery, Pagination, ParentOrg } from './schemas.js';
import {
  Changes,
  ChangeSet,
  changesIn,
  Policy,
  present,
  presentShared,
  presentUsage,
  ResourceType,
  Shared,
  ShareWithUsage,
  Target,
  Usage,
} from './share-bodies.js';

const tag = 'Resource shares';
const base = '/v3/{parent_org}/resource_shares';
const path = `${base}/{resource_type}/{resource_id}`;
const OrgAndResource = ParentOrg.extend({
  resource_type: ResourceType,
  resource_id: Id.openapi({ description: 'ID of the output or the secret.' }),
});
const read = { permission: 'resource_share:read', session: 'deny' } as const;
const write = { permission: 'resource_share:write', session: 'deny' } as const;
const changed = {
  status: 200,
  description: 'What was changed. Everything or nothing is.',
  schema: ChangeSet,
} as const;

type Params = z.output<typeof OrgAndResource>;
type ChangeCall = OrganizationCall<Params, unknown, z.output<typeof Changes>>;

/** Routes that share outputs and secrets of an organization with its teams. */
export function resourceShareRoutes(context: RouteContext): Route[] {
  const { store, catalog } = context;
  return [
    organizationRoute(
      {
        method: 'get',
        path: base,
        tag,
        operation: 'listSharedResources',
        summary: 'List what an organization shares with its teams',
        description: 'Outputs and secrets with at least one team, or that new teams get.',
        access: read,
        params: ParentOrg,
        query: PageQuery.extend({
          resource_type: ResourceType.optional().openapi({
            description: 'Only outputs (`component`), or only secrets.',
          }),
        }),
        response: {
          status: 200,
          description: 'Those that were shared last first.',
          schema: z.object({ shared_resources: z.array(Shared), pagination: Pagination }).openapi('SharedResourceList'),
        },
      },
      async ({ organization, query: { resource_type: type, ...page } }) => {
        const { rows, total } = await store.shareViews.shared(organization.id, page, type);
        const shared_resources = rows.map((row) => presentShared(row, catalog));
        return { status: 200, body: { shared_resources, pagination: { ...page, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path,
        tag,
        operation: 'listResourceShares',
        summary: 'List the teams that an output or a secret is shared with',
        description: 'Also says whether each of them uses it, and whether new teams will get it.',
        access: read,
        params: OrgAndResource,
        response: {
          status: 200,
          description: 'Oldest first.',
          schema: z
            .object({ resource_shares: z.array(ShareWithUsage), share_with_all_new_children: Policy })
            .openapi('ResourceShareList'),
        },
      },
      async ({ organization, params }) => {
        const resource = await find(context, organization.id, params);
        const [shares, users, policy] = await Promise.all([
          store.resourceShares.of(resource),
          store.shareViews.users(resource, organization.id),
          store.sharePolicies.get(resource),
        ]);
        const resource_shares = shares.map((row) => ({
          ...present(row),
          target_organization_name: row.targetName,
          in_use: users.has(row.targetOrganizationId),
        }));
        return { status: 200, body: { resource_shares, share_with_all_new_children: policy !== undefined } };
      },
    ),

    ...(['post', 'patch'] as const).map((method) =>
      organizationRoute(
        {
          method,
          path,
          tag,
          operation: method === 'post' ? 'shareResource' : 'changeResourceShares',
          summary: 'Share an output or a secret with teams, or take it from them',
          description:
            'POST and PATCH do the same. The teams use an output without seeing its settings, and a secret at the destinations on its list.',
          access: write,
          params: OrgAndResource,
          body: Changes,
          idempotent: true,
          response: changed,
          errorStatuses: { 409: 'A team that it would be taken from uses it; `additional_details` names its uses.' },
        },
        ({ body, ...call }: ChangeCall) => change(context, { ...call, body: undefined }, changesIn(body)),
      ),
    ),

    organizationRoute(
      {
        method: 'delete',
        path,
        tag,
        operation: 'unshareResource',
        summary: 'Take an output or a secret from all teams',
        description: 'Teams that are created get it no longer, either.',
        access: write,
        params: OrgAndResource,
        response: changed,
        errorStatuses: { 409: 'A team that it would be taken from uses it; `additional_details` names its uses.' },
      },
      (call) => change(context, call, 'nobody'),
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/organizations`,
        tag,
        operation: 'listShareTargets',
        summary: 'List all teams, and whether an output or a secret is shared with each',
        description: 'For a page on which a person chooses teams.',
        access: read,
        params: OrgAndResource,
        query: PageQuery.extend({
          search: z.string().min(1).max(200).optional().openapi({ description: 'Part of the name, in any case.' }),
          shared: z.enum(['true', 'false']).optional().openapi({ description: 'Only those that have it, or not.' }),
          sort_by: z.enum(['name', 'shared', 'shared_at', 'in_use']).optional().openapi({
            description: 'Default: those that have it first.',
          }),
          order: z.enum(['asc', 'desc']).default('asc').openapi({ description: 'Direction of `sort_by`.' }),
        }),
        response: {
          status: 200,
          description: 'The teams.',
          schema: z
            .object({ organizations: z.array(Target), share_with_all_new_children: Policy, pagination: Pagination })
            .openapi('ResourceShareTargetList'),
        },
      },
      async ({ organization, params, query: { search, shared, sort_by: sortBy, order, ...page } }) => {
        const resource = await find(context, organization.id, params);
        const filter = {
          nameSearch: search,
          isShared: shared === undefined ? undefined : shared === 'true',
          sortBy,
          isDescending: order === 'desc',
        };
        const { rows, total } = await store.shareViews.targets(resource, organization.id, page, filter);
        const policy = await store.sharePolicies.get(resource);
        const organizations = rows.map(({ organizationId, name, sharedAt, isInUse }) => ({
          organization_id: organizationId,
          name,
          shared: sharedAt !== null,
          ...(sharedAt && { shared_at: sharedAt.toISOString() }),
          in_use: isInUse,
        }));
        const share_with_all_new_children = policy !== undefined;
        return { status: 200, body: { organizations, share_with_all_new_children, pagination: { ...page, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/usage`,
        tag,
        operation: 'listResourceUsage',
        summary: 'List what the teams use an output or a secret for',
        description: 'A use prevents that it is taken from the team.',
        access: read,
        params: OrgAndResource,
        query: PageQuery,
        response: {
          status: 200,
          description:
            'The pipelines with the output, or the connectors that refer to the secret, of the oldest team first.',
          schema: z.object({ usages: z.array(Usage), pagination: Pagination }).openapi('ResourceUsageList'),
        },
      },
      async ({ organization, params, query }) => {
        const resource = await find(context, organization.id, params);
        const { rows, total } = await store.shareViews.uses(resource, organization.id, query);
        const usages = rows.map((row) => presentUsage(row, catalog));
        return { status: 200, body: { usages, pagination: { ...query, total } } };
      },
    ),
  ];
}

/**
 * Returns an output or a secret that the organization owns.
 * @throws ApiError 400 if it is something that can't be shared, or 404
 */
async function find(
  { store }: RouteContext,
  organizationId: string,
  { resource_type: type, resource_id: id }: Params,
): Promise<Resource> {
  const found =
    type === 'component'
      ? await store.connectors.get(organizationId, 'output', id)
      : await store.organizationSecrets.get(organizationId, id);
  if (!found) await requireResource(store, organizationId, { type, id });
  return { type, id };
}

async function change(
  { clock }: RouteContext,
  { organization, params, commit }: OrganizationCall<Params, unknown, unknown>,
  changes: ShareChanges | 'nobody',
): Promise<ResponseData> {
  return commit(async (tables) => {
    const resource = { type: params.resource_type, id: params.resource_id };
    const result = await changeShares(organization, resource, changes, tables, new Date(clock.now()));
    return {
      status: 200,
      body: {
        created: result.created.map(present),
        revoked: result.revoked.map(present),
        skipped_in_use: result.skipped.map(present),
        share_with_all_new_children: result.hasPolicy,
      },
    };
  });
}
