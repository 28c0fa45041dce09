import { z } from '@hono/zod-openapi';
import { newOrganization } from '../auth/new-organization.js';
import { forbidden, notFound } from '../api-error.js';
import { organizationRoute, type Route } from '../http/route.js';
import type { Organization } from '../store/store.js';
import type { RouteContext } from './context.js';
import { Id, Name, Origin, PageQuery, Pagination } from './schemas.js';

const AllowedOrigins = z.array(Origin).max(50).openapi({
  description:
    'Origins of pages that may embed frames of this organization and its teams, in addition to ALLOWED_PARENT_ORIGINS.',
});

const OrganizationBody = z
  .object({
    id: z.string(),
    parent_id: z.string().nullable(),
    name: z.string(),
    allowed_origins: z.array(z.string()),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('Organization');

const Parent = z.object({ parent_org: Id });
const ParentAndId = z.object({
  parent_org: Id,
  id: Id.openapi({ description: 'ID of the parent organization or one of its teams.' }),
});

/** Routes for a parent organization and its teams. */
export function organizationRoutes(context: RouteContext): Route[] {
  const { store, vault, clock, principals, parentOrigins, engine } = context;
  const tag = 'Organizations';

  async function find(parent: Organization, id: string): Promise<Organization> {
    const organization = await store.organizations.get(id);
    if (!organization || (id !== parent.id && organization.parentId !== parent.id)) throw notFound();
    return organization;
  }

  return [
    organizationRoute(
      {
        method: 'get',
        path: '/v3/{parent_org}/organizations',
        tag,
        operation: 'listOrganizations',
        summary: 'List the teams of an organization',
        access: { permission: 'read', session: 'deny' },
        params: Parent,
        query: PageQuery,
        response: {
          status: 200,
          description: 'Oldest first.',
          schema: z.object({ organizations: z.array(OrganizationBody), pagination: Pagination }),
        },
      },
      async ({ organization, query }) => {
        const { rows, total } = await store.organizations.teams(organization.id, query);
        return { status: 200, body: { organizations: rows.map(present), pagination: { ...query, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path: '/v3/{parent_org}/organizations',
        tag,
        operation: 'createOrganization',
        summary: 'Create a team',
        access: { permission: 'write', session: 'deny' },
        params: Parent,
        body: z
          .object({ name: Name, allowed_origins: AllowedOrigins.default([]) })
          .openapi('CreateOrganization', { example: { name: 'Acme' } }),
        idempotent: true,
        response: { status: 201, description: 'The team.', schema: OrganizationBody },
      },
      async ({ organization: parent, body, commit }) => {
        if (parent.parentId !== null) throw forbidden('This organization is a team itself; teams have no teams.');
        return commit(async (tables) => {
          const team = await newOrganization(
            { name: body.name, parentId: parent.id, allowedOrigins: body.allowed_origins },
            { tables, vault, clock },
          );
          return { status: 201, body: present(team) };
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
        access: { permission: 'read', session: 'deny' },
        params: ParentAndId,
        response: { status: 200, description: 'The organization.', schema: OrganizationBody },
      },
      async ({ organization, params }) => ({ status: 200, body: present(await find(organization, params.id)) }),
    ),

    organizationRoute(
      {
        method: 'patch',
        path: '/v3/{parent_org}/organizations/{id}',
        tag,
        operation: 'changeOrganization',
        summary: 'Update the name or the allowed origins of an organization or one of its teams',
        access: { permission: 'write', session: 'deny' },
        params: ParentAndId,
        body: z
          .object({ name: Name.optional(), allowed_origins: AllowedOrigins.optional() })
          .openapi('ChangeOrganization', { example: { allowed_origins: ['https://app.example'] } }),
        response: { status: 200, description: 'The updated organization.', schema: OrganizationBody },
      },
      async ({ organization, params, body }) => {
        const { id } = await find(organization, params.id);
        const change = {
          ...(body.name === undefined ? {} : { name: body.name }),
          ...(body.allowed_origins === undefined ? {} : { allowedOrigins: [...new Set(body.allowed_origins)] }),
        };
        const changed = await store.organizations.update(id, change, new Date(clock.now()));
        if (!changed) throw notFound();
        principals.forget();
        parentOrigins.forget();
        return { status: 200, body: present(changed) };
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: '/v3/{parent_org}/organizations/{id}',
        tag,
        operation: 'deleteOrganization',
        summary: 'Delete a team with its connectors, secrets, keys and sessions',
        access: { permission: 'write', session: 'deny' },
        params: ParentAndId,
        response: { status: 200, description: 'The deleted resource.', schema: OrganizationBody },
      },
      async ({ organization, params }) => {
        const team = await find(organization, params.id);
        if (team.parentId !== organization.id) throw forbidden('An organization does not delete itself.');
        const running = await store.pipelines.ids(team.id);
        await store.organizations.remove(team.id);
        for (const id of running) engine.changed(id);
        principals.forget();
        parentOrigins.forget();
        return { status: 200, body: present(team) };
      },
    ),
  ];
}

function present(organization: Organization): z.output<typeof OrganizationBody> {
  return {
    id: organization.id,
    parent_id: organization.parentId,
    name: organization.name,
    allowed_origins: organization.allowedOrigins,
    created_at: organization.createdAt.toISOString(),
    updated_at: organization.updatedAt.toISOString(),
  };
}
