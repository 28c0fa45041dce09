import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { ApiError, forbidden, notFound } from '../api-error.js';
import { requirePermissions } from '../auth/key-permissions.js';
import { organizationRoute, type Route } from '../http/route.js';
import { defaultRole, defaultRoles, describePermission, permissions, type DefaultRole } from '../permissions.js';
import type { Page, StoredRole } from '../store/store.js';
import type { RouteContext } from './context.js';
import { Name, Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

export const PermissionBody = z
  .object({
    id: z.enum(permissions).openapi({ description: 'The same as `slug`.' }),
    slug: z.enum(permissions),
    name: z.string(),
    description: z.string(),
  })
  .openapi('Permission');

const RoleBody = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    name: z.string(),
    description: z.string(),
    permissions: z.array(PermissionBody),
    protected: z.boolean().openapi({ description: 'True for the default roles, which cannot be changed.' }),
    created_at: z.iso.datetime().optional().openapi({ description: 'Absent for a default role.' }),
    updated_at: z.iso.datetime().optional().openapi({ description: 'Absent for a default role.' }),
  })
  .openapi('Role');

const fields = {
  name: Name,
  description: z.string().max(2_000),
  permission_ids: z
    .array(z.enum(permissions))
    .min(1)
    .openapi({ description: 'The caller must have each of them: 403 names those that it lacks.' }),
};
const example = { name: 'Metrics', permission_ids: ['pipeline:read', 'pipeline:metrics:read'] };

/** Holders of each kind that a rejected deletion names. */
const MOST_HOLDERS = 20;
const defaults: readonly DefaultRole[] = Object.values(defaultRoles);

/** Routes for the roles of an organization: the default roles and its own. */
export function roleRoutes({ store, principals, clock }: RouteContext): Route[] {
  const tag = 'Roles';
  const path = '/v2/{org}/roles';
  const read = { permission: 'role:read', session: 'deny' } as const;
  const write = { permission: 'role:write', session: 'deny' } as const;

  async function page(organizationId: string, { limit, offset }: Page) {
    const first = defaults.slice(offset, offset + limit);
    const { rows, total } = await store.roles.list(organizationId, {
      limit: limit - first.length,
      offset: Math.max(0, offset - defaults.length),
    });
    const roles = [...first.map((role) => presentDefault(role, organizationId)), ...rows.map(present)];
    return { roles, pagination: { limit, offset, total: total + defaults.length } };
  }

  return [
    organizationRoute(
      {
        method: 'get',
        path,
        tag,
        operation: 'listRoles',
        summary: 'List the roles of an organization',
        description: 'The default roles are the same for every organization and cannot be changed.',
        access: read,
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description: 'The default roles first, then its own, oldest first.',
          schema: z.object({ roles: z.array(RoleBody), pagination: Pagination }).openapi('RoleList'),
        },
      },
      async ({ organization, query }) => ({ status: 200, body: await page(organization.id, query) }),
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/permissions`,
        tag,
        operation: 'listPermissions',
        summary: 'List all permissions',
        description: 'The slugs that `permission_ids` of a role can contain.',
        access: read,
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description: 'In alphabetical order.',
          schema: z.object({ permissions: z.array(PermissionBody), pagination: Pagination }).openapi('PermissionList'),
        },
      },
      ({ query: { limit, offset } }) => ({
        status: 200,
        body: {
          permissions: permissions.slice(offset, offset + limit).map(presentPermission),
          pagination: { limit, offset, total: permissions.length },
        },
      }),
    ),

    organizationRoute(
      {
        method: 'post',
        path,
        tag,
        operation: 'createRole',
        summary: 'Create a role',
        description:
          'Teams do not inherit it: a role belongs to one organization. The caller must have all permissions that it grants.',
        access: write,
        params: Org,
        body: z.object({ ...fields, description: fields.description.default('') }).openapi('CreateRole', { example }),
        response: { status: 200, description: 'The role.', schema: RoleBody },
      },
      ({ principal, organization, body, commit }) => {
        requirePermissions(principal, body.permission_ids, LACKS);
        const now = new Date(clock.now());
        const role: StoredRole = {
          id: randomUUID(),
          organizationId: organization.id,
          name: body.name,
          description: body.description,
          permissions: [...new Set(body.permission_ids)],
          createdAt: now,
          updatedAt: now,
        };
        return commit(async ({ roles }) => {
          await roles.insert(role);
          return { status: 200, body: present(role) };
        });
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/{id}`,
        tag,
        operation: 'readRole',
        summary: 'Read a role with its permissions',
        description: '`id` can also be that of a default role, such as `reader`.',
        access: read,
        params: OrgAndId,
        response: { status: 200, description: 'The role.', schema: RoleBody },
      },
      async ({ organization, params }) => {
        const fixed = defaultRole(params.id);
        if (fixed) return { status: 200, body: presentDefault(fixed, organization.id) };
        const role = await store.roles.get(organization.id, params.id);
        if (!role) throw notFound();
        return { status: 200, body: present(role) };
      },
    ),

    organizationRoute(
      {
        method: 'patch',
        path: `${path}/{id}`,
        tag,
        operation: 'changeRole',
        summary: 'Update a role; absent properties are kept',
        description: 'API keys and users with this role have the new permissions from their next request on.',
        access: write,
        params: OrgAndId,
        body: z
          .object({
            name: fields.name.optional(),
            description: fields.description.optional(),
            permission_ids: fields.permission_ids.optional(),
          })
          .openapi('ChangeRole', { example: { permission_ids: example.permission_ids } }),
        response: { status: 200, description: 'The updated role.', schema: RoleBody },
      },
      async ({ principal, organization, params, body, commit }) => {
        requireCustom(params.id);
        const { name, description, permission_ids: granted } = body;
        if (granted) requirePermissions(principal, granted, LACKS);
        const response = await commit(async ({ roles }) => {
          const role = await roles.lock(organization.id, params.id);
          if (!role) throw notFound();
          const next: StoredRole = {
            ...role,
            ...(name !== undefined && { name }),
            ...(description !== undefined && { description }),
            ...(granted && { permissions: [...new Set(granted)] }),
            updatedAt: new Date(clock.now()),
          };
          await roles.update(next);
          return { status: 200, body: present(next) };
        });
        principals.forget();
        return response;
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: `${path}/{id}`,
        tag,
        operation: 'deleteRole',
        summary: 'Delete a role that no API key, user, invitation or connection has',
        description: 'A default role cannot be deleted: 403.',
        access: { permission: 'role:delete', session: 'deny' },
        params: OrgAndId,
        response: { status: 200, description: 'The deleted role.', schema: RoleBody },
        errorStatuses: { 409: 'Something still has this role; `additional_details` names what.' },
      },
      async ({ organization, params, commit }) => {
        requireCustom(params.id);
        const response = await commit(async ({ roles, apiKeys, memberships, invitations, ssoConnections }) => {
          // The lock keeps other transactions from giving the role to a key, a user or an invitation.
          const role = await roles.lock(organization.id, params.id);
          if (!role) throw notFound();
          const holders = {
            api_keys: await apiKeys.withRole(organization.id, role.id, MOST_HOLDERS),
            users: await memberships.withRole(organization.id, role.id, MOST_HOLDERS),
            invitations: await invitations.withRole(organization.id, role.id, MOST_HOLDERS),
            connections: await ssoConnections.withRole(organization.id, role.id, MOST_HOLDERS),
          };
          const held = Object.entries(holders).filter(([, rows]) => rows.length > 0);
          if (held.length > 0) {
            const names = held.map(([name]) => name.replace('_', ' ').replace('api', 'API')).join(', ');
            throw new ApiError(409, 'conflict', `This role is in use by ${names}. Give them another role first.`, {
              details: Object.fromEntries(held),
            });
          }
          await roles.remove(organization.id, role.id);
          return { status: 200, body: present(role) };
        });
        principals.forget();
        return response;
      },
    ),
  ];
}

const LACKS = "A role can't contain permissions that its author lacks:";

function requireCustom(id: string): void {
  if (defaultRole(id)) throw forbidden('This role is protected. Create a custom role.');
}

export const presentPermission = (slug: (typeof permissions)[number]): z.output<typeof PermissionBody> => ({
  id: slug,
  slug,
  name: describePermission(slug),
  description: describePermission(slug),
});

function presentDefault(role: DefaultRole, organizationId: string): z.output<typeof RoleBody> {
  return {
    id: role.id,
    organization_id: organizationId,
    name: role.name,
    description: role.description,
    permissions: role.permissions.map(presentPermission),
    protected: true,
  };
}

function present(role: StoredRole): z.output<typeof RoleBody> {
  return {
    id: role.id,
    organization_id: role.organizationId,
    name: role.name,
    description: role.description,
    permissions: role.permissions.filter((slug) => permissions.includes(slug)).map(presentPermission),
    protected: false,
    created_at: role.createdAt.toISOString(),
    updated_at: role.updatedAt.toISOString(),
  };
}
