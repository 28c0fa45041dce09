import { z } from '@hono/zod-openapi';
import { creatorOf, newApiKey } from '../auth/api-key.js';
import { requirePermissions } from '../auth/key-permissions.js';
import { newOrganization } from '../auth/new-organization.js';
import { permissionsIn } from '../auth/organization-role.js';
import { inOrganization, organizationOf, type Principal } from '../auth/principal.js';
import { forbidden, notFound } from '../api-error.js';
import { organizationRoute, route, type Commit, type ResponseData, type Route } from '../http/route.js';
import { defaultRoles } from '../permissions.js';
import type { Organization, Organizations } from '../store/store.js';
import type { RouteContext } from './context.js';
import { Id, Name, Org, Origin, PageQuery, Pagination, ParentOrg } from './schemas.js';

const AllowedOrigins = z.array(Origin).max(50).openapi({
  description:
    'Origins of pages that may embed frames of this organization and its teams, in addition to ALLOWED_PARENT_ORIGINS.',
});

const OrganizationBody = z
  .object({
    id: z.string(),
    parent_id: z.string().nullable(),
    parent_organization_id: z.string().nullable().openapi({ description: 'The same as `parent_id`.' }),
    name: z.string(),
    friendly_name: z.string(),
    description: z.string(),
    allowed_origins: z.array(z.string()),
    billing_account_id: z.string().optional().openapi({ description: 'The billing account it is in.' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('Organization');

const OrganizationList = z
  .object({ organizations: z.array(OrganizationBody), pagination: Pagination })
  .openapi('OrganizationList');

const texts = {
  description: z.string().max(2_000).optional(),
  friendly_name: z.string().trim().max(200).optional().openapi({ description: 'Name that people read.' }),
};
const SearchQuery = PageQuery.extend({
  name_search: z.string().min(1).max(200).optional().openapi({ description: 'Part of the name, in any case.' }),
});

const ParentAndId = ParentOrg.extend({
  id: Id.openapi({ description: 'ID of the parent organization or one of its teams.' }),
});

/** Routes for a parent organization and its teams. */
export function organizationRoutes(context: RouteContext): Route[] {
  const { store, vault, clock, principals, parentOrigins, engine } = context;
  const tag = 'Organizations';

  async function presentAll(rows: readonly Organization[]): Promise<z.output<typeof OrganizationBody>[]> {
    const accounts = await store.billingMembers.accountsOf(rows.map(({ id }) => id));
    return rows.map((organization) => present(organization, accounts.get(organization.id)));
  }

  async function find(parent: Organization, id: string): Promise<Organization> {
    const organization = await store.organizations.get(id);
    if (!organization || (id !== parent.id && organization.parentId !== parent.id)) throw notFound();
    return organization;
  }

  /**
   * Returns the organization as which a caller deletes one of its teams.
   * @throws ApiError 403 for a user who may not do that in the parent
   */
  async function managerOf(principal: Principal, organization: Organization): Promise<Organization> {
    const id = principal.type === 'key' ? principal.key.organizationId : (organization.parentId ?? organization.id);
    const parent = await store.organizations.get(id);
    if (!parent) throw notFound();
    if (principal.type === 'user') {
      const there = inOrganization(principal, parent);
      if (!there) throw forbidden('An organization does not delete itself.');
      requirePermissions(there, ['organization:delete'], 'Your role in the parent organization lacks the permission');
    }
    return parent;
  }

  async function change(
    commit: Commit,
    id: string,
    values: Parameters<Organizations['update']>[1],
  ): Promise<ResponseData> {
    const response = await commit(async ({ organizations, billingMembers }) => {
      await organizations.lock(id);
      const changed = await organizations.update(id, values, new Date(clock.now()));
      if (!changed) throw notFound();
      const accounts = await billingMembers.accountsOf([id]);
      return { status: 200, body: present(changed, accounts.get(id)) };
    });
    principals.forget();
    parentOrigins.forget();
    return response;
  }

  /** Deletes a team with all it owns. */
  async function remove(
    commit: Commit,
    parent: Organization,
    id: string,
    respond: (team: Organization) => Promise<ResponseData> | ResponseData,
  ): Promise<ResponseData> {
    const team = await find(parent, id);
    if (team.parentId !== parent.id) throw forbidden('An organization does not delete itself.');
    const running = await store.pipelines.ids(team.id);
    const response = await commit(async ({ organizations }) => {
      if (!(await organizations.lock(team.id))) throw notFound();
      await organizations.remove(team.id);
      return respond(team);
    });
    for (const pipeline of running) engine.changed(pipeline);
    principals.forget();
    parentOrigins.forget();
    return response;
  }

  return [
    organizationRoute(
      {
        method: 'get',
        path: '/v3/{parent_org}/organizations',
        tag,
        operation: 'listOrganizations',
        summary: 'List the teams of an organization',
        description: 'The parent itself is not in the list. A team has no teams.',
        access: { permission: 'organization:read', session: 'deny' },
        params: ParentOrg,
        query: SearchQuery,
        response: {
          status: 200,
          description: 'Oldest first.',
          schema: OrganizationList,
        },
      },
      async ({ organization, query: { name_search: nameSearch, ...page } }) => {
        const { rows, total } = await store.organizations.teams(organization.id, page, nameSearch);
        return { status: 200, body: { organizations: await presentAll(rows), pagination: { ...page, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path: '/v3/{parent_org}/organizations',
        tag,
        operation: 'createOrganization',
        summary: 'Create a team',
        description:
          'A team has its own connectors, secrets, pipelines, keys and sessions. Keys of the parent may act on it. Only a parent organization has teams: 403 for a team.',
        access: { permission: 'organization:write', session: 'deny' },
        params: ParentOrg,
        body: z
          .object({ name: Name, allowed_origins: AllowedOrigins.default([]), ...texts })
          .openapi('CreateOrganization', { example: { name: 'acme', friendly_name: 'Acme, Inc.' } }),
        idempotent: true,
        response: { status: 200, description: 'The team.', schema: OrganizationBody },
      },
      async ({ organization: parent, body, commit }) => {
        if (parent.parentId !== null) throw forbidden('This organization is a team itself; teams have no teams.');
        return commit(async (tables) => {
          const team = await newOrganization(
            { name: body.name, parentId: parent.id, allowedOrigins: body.allowed_origins, ...textsIn(body) },
            { tables, vault, clock },
          );
          return { status: 200, body: present(team, undefined) };
        });
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: '/v3/{parent_org}/organizations/{id}',
        tag,
        operation: 'readOrganization',
        summary: 'Read an organization or one of its teams',
        description: '`id` is that of the organization in the path or of one of its teams.',
        access: { permission: 'organization:read', session: 'deny' },
        params: ParentAndId,
        response: { status: 200, description: 'The organization.', schema: OrganizationBody },
      },
      async ({ organization, params }) => {
        const [body] = await presentAll([await find(organization, params.id)]);
        return { status: 200, body };
      },
    ),

    organizationRoute(
      {
        method: 'patch',
        path: '/v3/{parent_org}/organizations/{id}',
        tag,
        operation: 'changeOrganization',
        summary: 'Update an organization or one of its teams; absent properties are kept',
        description: 'A change of `allowed_origins` decides within a second which pages may embed frames.',
        access: { permission: 'organization:write', session: 'deny' },
        params: ParentAndId,
        body: z
          .object({ name: Name.optional(), allowed_origins: AllowedOrigins.optional(), ...texts })
          .openapi('ChangeOrganization', { example: { allowed_origins: ['https://app.example'] } }),
        response: { status: 200, description: 'The updated organization.', schema: OrganizationBody },
      },
      async ({ organization, params, body, commit }) => {
        const { id } = await find(organization, params.id);
        return change(commit, id, {
          ...(body.name !== undefined && { name: body.name }),
          ...(body.allowed_origins && { allowedOrigins: [...new Set(body.allowed_origins)] }),
          ...textsIn(body),
        });
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: '/v3/{parent_org}/organizations/{id}',
        tag,
        operation: 'deleteOrganization',
        summary: 'Delete a team with its connectors, secrets, keys and sessions',
        description:
          'Its pipelines stop, and records that wait in them are lost. The parent organization cannot be deleted: 403.',
        access: { permission: 'organization:delete', session: 'deny' },
        params: ParentAndId,
        response: { status: 204, description: 'The team was deleted.' },
      },
      ({ organization, params, commit }) => remove(commit, organization, params.id, () => ({ status: 204 })),
    ),

    route(
      {
        method: 'get',
        path: '/v1/organizations',
        tag,
        operation: 'listOwnOrganizations',
        summary: 'List the organizations of the caller and their teams',
        description:
          'For a key of a team, the list has this team alone. For a user, it has those in which the user has `organization:read`.',
        access: { permission: 'organization:read', session: 'deny' },
        query: SearchQuery.extend({
          no_children: z
            .enum(['true', 'false'])
            .default('false')
            .openapi({ description: 'Only organizations without teams.' }),
          parent_organization_id: Id.optional().openapi({ description: 'Only teams of this organization.' }),
        }),
        response: {
          status: 200,
          description: 'Oldest first.',
          schema: OrganizationList,
        },
      },
      async ({ principal, query: { name_search, no_children, parent_organization_id, ...page } }) => {
        const { rows, total } = await store.organizations.family(readableBy(principal), page, {
          nameSearch: name_search,
          parentId: parent_organization_id,
          childless: no_children === 'true',
        });
        return { status: 200, body: { organizations: await presentAll(rows), pagination: { ...page, total } } };
      },
    ),

    route(
      {
        method: 'post',
        path: '/v1/organizations',
        tag,
        operation: 'createParentOrganization',
        summary: 'Create an organization without a parent, with its first API key',
        description:
          'Only for an API key of the operator. Such a key belongs to an organization and has no access to others, so the response contains the first key of the new one.',
        access: { permission: 'organization:write', session: 'deny', operator: true },
        body: z
          .object({ name: Name, ...texts })
          .openapi('CreateParentOrganization', { example: { name: 'acme', friendly_name: 'Acme, Inc.' } }),
        response: {
          status: 200,
          description: 'The organization.',
          schema: OrganizationBody.extend({
            api_key: z
              .object({ id: z.string(), key: z.string() })
              .openapi('FirstApiKey', { description: 'A key with the role Admin. It is returned only by this call.' }),
          }).openapi('CreatedParentOrganization'),
        },
      },
      ({ principal, body, commit }) =>
        commit(async (tables) => {
          const organization = await newOrganization({ name: body.name, ...textsIn(body) }, { tables, vault, clock });
          const access = { roleId: defaultRoles.admin.id };
          const key = newApiKey(
            { organizationId: organization.id, name: 'first key', access, createdBy: creatorOf(principal) },
            vault,
            clock,
          );
          await tables.apiKeys.insert(key.row);
          return {
            status: 200,
            body: { ...present(organization, undefined), api_key: { id: key.row.id, key: key.text } },
          };
        }),
    ),

    organizationRoute(
      {
        method: 'patch',
        path: '/v1/organizations/{org}',
        tag,
        operation: 'describeOrganization',
        summary: 'Update the texts of an organization; absent properties are kept',
        description: 'Changes the description and the name for people, not the `name` or the origins.',
        access: { permission: 'organization:write', session: 'deny' },
        params: Org,
        body: z.object(texts).openapi('DescribeOrganization', { example: { friendly_name: 'Acme, Inc.' } }),
        response: { status: 200, description: 'The updated organization.', schema: OrganizationBody },
      },
      ({ organization, body, commit }) => change(commit, organization.id, textsIn(body)),
    ),

    organizationRoute(
      {
        method: 'delete',
        path: '/v1/organizations/{org}',
        tag,
        operation: 'deleteOwnTeam',
        summary: 'Delete a team with its connectors, secrets, keys and sessions',
        description:
          'Its pipelines stop, and records that wait in them are lost. The parent organization cannot be deleted: 403.',
        access: { permission: 'organization:delete', session: 'deny' },
        params: Org,
        response: { status: 200, description: 'The deleted resource.', schema: OrganizationBody },
      },
      async ({ principal, organization, commit }) => {
        const parent = await managerOf(principal, organization);
        return remove(commit, parent, organization.id, (team) => ({ status: 200, body: present(team, undefined) }));
      },
    ),
  ];
}

/** Returns the organizations that a caller reads together with their teams. */
function readableBy(principal: Principal): string[] {
  if (principal.type !== 'user') return [organizationOf(principal) ?? ''];
  return principal.memberships
    .filter((membership) => permissionsIn(membership).has('organization:read'))
    .map(({ organizationId }) => organizationId);
}

const textsIn = ({
  description,
  friendly_name: friendlyName,
}: {
  description?: string | undefined;
  friendly_name?: string | undefined;
}) => ({
  ...(description !== undefined && { description }),
  ...(friendlyName !== undefined && { friendlyName }),
});

function present(organization: Organization, billingAccountId: string | undefined): z.output<typeof OrganizationBody> {
  return {
    id: organization.id,
    parent_id: organization.parentId,
    parent_organization_id: organization.parentId,
    name: organization.name,
    friendly_name: organization.friendlyName,
    description: organization.description,
    allowed_origins: organization.allowedOrigins,
    ...(billingAccountId !== undefined && { billing_account_id: billingAccountId }),
    created_at: organization.createdAt.toISOString(),
    updated_at: organization.updatedAt.toISOString(),
  };
}
