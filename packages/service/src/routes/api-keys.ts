import { z } from '@hono/zod-openapi';
import { newApiKey } from '../auth/api-key.js';
import { permissionsOf, requirePermissions } from '../auth/key-permissions.js';
import { expandGrants, grants } from '../permissions.js';
import { invalidRequest, notFound } from '../api-error.js';
import { organizationRoute, route, type Route } from '../http/route.js';
import type { ApiKey } from '../store/store.js';
import type { RouteContext } from './context.js';
import { Name, Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

const Permissions = z
  .array(z.enum(grants))
  .openapi({ description: 'Permissions, or sets of them: `sessions:create`, `read`, `write`, `keys:manage`.' });

const ApiKeyBody = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    name: z.string(),
    hint: z.string().openapi({ description: 'First and last characters of the key.' }),
    permissions: Permissions.openapi({ description: 'As the key was created with, or those of its role.' }),
    role_id: z.string().nullable().openapi({ description: 'Null if the key was created with `permissions`.' }),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
    revoked_at: z.iso.datetime().nullable(),
  })
  .openapi('ApiKey');

const NewApiKeyBody = ApiKeyBody.extend({
  key: z.string().openapi({ description: 'The key. It is returned only by this call.' }),
}).openapi('NewApiKey');

/** Routes for the API keys of an organization. */
export function apiKeyRoutes({ store, vault, clock, principals }: RouteContext): Route[] {
  const tag = 'API keys';
  return [
    route(
      {
        method: 'get',
        path: '/v3/api-keys/current',
        tag,
        operation: 'readCurrentApiKey',
        summary: 'Read the API key of the request, with its organization and permissions',
        description:
          'A client that has nothing but its key learns the `organization_id` here that other paths contain.',
        access: { permission: 'any', session: 'deny' },
        response: { status: 200, description: 'The key.', schema: ApiKeyBody },
      },
      ({ principal }) => ({ status: 200, body: present(principal.key) }),
    ),

    organizationRoute(
      {
        method: 'post',
        path: '/v3/{org}/api-keys',
        tag,
        operation: 'createApiKey',
        summary: 'Create an API key',
        description:
          'The response is the only one that contains the key. A key can only grant permissions that the key of this request has; otherwise 403 names those that it lacks. For a key with a role, use `POST /v2/{org}/api_keys`.',
        access: { permission: 'apikey:write', session: 'deny' },
        params: Org,
        body: z
          .object({
            name: Name,
            permissions: Permissions.min(1),
            expires_at: z.iso
              .datetime({ offset: true })
              .nullable()
              .optional()
              .openapi({ description: 'RFC 3339. Absent: the key does not expire.' }),
          })
          .openapi('CreateApiKey', { example: { name: 'backend', permissions: ['sessions:create', 'read'] } }),
        response: { status: 201, description: 'The key. It is returned only by this call.', schema: NewApiKeyBody },
      },
      ({ principal, organization, body, commit }) => {
        requirePermissions(principal, expandGrants(body.permissions), "A key can't grant what it lacks:");
        const expiresAt = typeof body.expires_at === 'string' ? new Date(body.expires_at) : undefined;
        if (expiresAt && expiresAt.getTime() <= clock.now()) throw invalidRequest('expires_at is in the past.');
        const { row, text } = newApiKey(
          {
            organizationId: organization.id,
            name: body.name,
            access: { permissions: body.permissions },
            ...(expiresAt ? { expiresAt } : {}),
          },
          vault,
          clock,
        );
        return commit(async ({ apiKeys }) => {
          await apiKeys.insert(row);
          return { status: 201, body: { ...present({ ...row, roleName: null, rolePermissions: null }), key: text } };
        });
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: '/v3/{org}/api-keys',
        tag,
        operation: 'listApiKeys',
        summary: 'List the API keys of an organization',
        description:
          'Shows all keys, also those with a role and those that were revoked or have expired, but never their text: `hint` identifies a key.',
        access: { permission: 'apikey:read', session: 'deny' },
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description: 'Oldest first, including revoked keys.',
          schema: z.object({ api_keys: z.array(ApiKeyBody), pagination: Pagination }).openapi('ApiKeyList'),
        },
      },
      async ({ organization, query }) => {
        const { rows, total } = await store.apiKeys.list(organization.id, query);
        return { status: 200, body: { api_keys: rows.map(present), pagination: { ...query, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: '/v3/{org}/api-keys/{id}',
        tag,
        operation: 'revokeApiKey',
        summary: 'Revoke an API key; its sessions end within a second',
        description:
          'The key is not accepted from the next request on. It stays in the list with `revoked_at`. Revoking it again changes nothing.',
        access: { permission: 'apikey:delete', session: 'deny' },
        params: OrgAndId,
        response: { status: 200, description: 'The revoked key.', schema: ApiKeyBody },
      },
      async ({ organization, params, commit }) => {
        const response = await commit(async ({ apiKeys }) => {
          const key = await apiKeys.lock(organization.id, params.id);
          // Revoking a key again changes nothing.
          const known = key ?? (await apiKeys.get(params.id));
          if (known?.organizationId !== organization.id) throw notFound();
          if (!key) return { status: 200, body: present(known) };
          const { roleName, rolePermissions, ...stored } = key;
          const now = new Date(clock.now());
          const revoked = { ...stored, revokedAt: now, updatedAt: now };
          await apiKeys.update(revoked);
          return { status: 200, body: present({ ...revoked, roleName, rolePermissions }) };
        });
        principals.forget();
        return response;
      },
    ),
  ];
}

function present(key: ApiKey): z.output<typeof ApiKeyBody> {
  return {
    id: key.id,
    organization_id: key.organizationId,
    name: key.name,
    hint: key.hint,
    permissions: key.roleId === null ? key.permissions : [...permissionsOf(key)],
    role_id: key.roleId,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
