import { z } from '@hono/zod-openapi';
import { ApiError, invalidRequest, notFound } from '../api-error.js';
import { isLive, newApiKey, newToken } from '../auth/api-key.js';
import { permissionsOf, requirePermissions } from '../auth/key-permissions.js';
import { organizationRoute, type OrganizationCall, type ResponseData, type Route } from '../http/route.js';
import { defaultRole } from '../permissions.js';
import type { ApiKey, StoredApiKey, Tables } from '../store/store.js';
import type { RouteContext } from './context.js';
import { Id, Name, Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

const Description = z.string().max(2_000);
const Expiration = z.iso.datetime({ offset: true }).openapi({ description: 'RFC 3339.' });

const KeyBody = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    name: z.string(),
    description: z.string(),
    role_id: z.string().optional().openapi({ description: 'Absent if the key was created with `permissions`.' }),
    token_version: z.int().openapi({ description: 'Incremented each time the key is regenerated.' }),
    expiration_time: z.iso.datetime().optional().openapi({ description: 'Absent if the key does not expire.' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('RoleKey');

const KeyWithToken = KeyBody.extend({
  token: z.string().openapi({ description: 'The key. It is returned only by this call.' }),
}).openapi('RoleKeyWithToken');

/** Routes for API keys that have a role. They show the keys of `/v3/{org}/api-keys` as well. */
export function roleKeyRoutes({ store, vault, clock, principals }: RouteContext): Route[] {
  const tag = 'API keys';
  const path = '/v2/{org}/api_keys';
  const read = { permission: 'apikey:read', session: 'deny' } as const;
  const write = { permission: 'apikey:write', session: 'deny' } as const;

  /** @throws ApiError 400 for a time that is not in the future */
  function futureTime(text: string): Date {
    const time = new Date(text);
    if (time.getTime() <= clock.now()) throw invalidRequest('expiration_time is in the past.');
    return time;
  }

  /**
   * Changes a key that is not revoked, in one transaction with the checks on it.
   * @throws ApiError 404
   */
  async function change(
    { organization, params, commit }: OrganizationCall<{ id: string }, unknown, unknown>,
    changeOf: (key: ApiKey) => Partial<StoredApiKey>,
    bodyOf: (changed: StoredApiKey) => unknown,
  ): Promise<ResponseData> {
    const response = await commit(async ({ apiKeys }) => {
      const key = await apiKeys.lock(organization.id, params.id);
      if (!key) throw notFound();
      const { roleName: _name, rolePermissions: _permissions, ...stored } = key;
      const changed = { ...stored, ...changeOf(key), updatedAt: new Date(clock.now()) };
      await apiKeys.update(changed);
      return { status: 200, body: bodyOf(changed) };
    });
    principals.forget();
    return response;
  }

  return [
    organizationRoute(
      {
        method: 'get',
        path,
        tag,
        operation: 'listRoleKeys',
        summary: 'List the API keys of an organization with their roles',
        description:
          'Also shows keys that were created with permissions instead of a role; these have no `role_id`. No response contains the text of a key.',
        access: read,
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description: 'Oldest first, without revoked keys.',
          schema: z.object({ api_keys: z.array(KeyBody), pagination: Pagination }).openapi('RoleKeyList'),
        },
      },
      async ({ organization, query }) => {
        const { rows, total } = await store.apiKeys.list(organization.id, query, { revoked: false });
        return { status: 200, body: { api_keys: rows.map(present), pagination: { ...query, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path,
        tag,
        operation: 'createRoleKey',
        summary: 'Create an API key with a role',
        description:
          'The response is the only one that contains the `token`. The caller must have all permissions of the role; otherwise 403 names those that it lacks. A later change of the role changes the key.',
        access: write,
        params: Org,
        body: z
          .object({
            name: Name,
            description: Description.default(''),
            role_id: Id.openapi({
              description: 'A default role, or a role of this organization. The caller must have its permissions.',
            }),
            expiration_time: Expiration,
          })
          .openapi('CreateRoleKey', {
            example: { name: 'dashboard', role_id: 'reader', expiration_time: '2099-01-01T00:00:00Z' },
          }),
        response: { status: 200, description: 'The key with its token.', schema: KeyWithToken },
      },
      ({ principal, organization, body, commit }) => {
        const expiresAt = futureTime(body.expiration_time);
        return commit(async (tables) => {
          const granted = await permissionsOfRole(tables, organization.id, body.role_id);
          if (!granted) throw invalidRequest('role_id is not a role of this organization.');
          requirePermissions(principal, granted, "A key can't grant what it lacks:");
          const key = newApiKey(
            {
              organizationId: organization.id,
              name: body.name,
              description: body.description,
              access: { roleId: body.role_id },
              expiresAt,
            },
            vault,
            clock,
          );
          await tables.apiKeys.insert(key.row);
          return { status: 200, body: { ...present(key.row), token: key.text } };
        });
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/{id}`,
        tag,
        operation: 'readRoleKey',
        summary: 'Read an API key',
        description: 'A revoked key is 404.',
        access: read,
        params: OrgAndId,
        response: { status: 200, description: 'The key.', schema: KeyBody },
      },
      async ({ organization, params }) => {
        const key = await store.apiKeys.get(params.id);
        if (key?.organizationId !== organization.id || key.revokedAt !== null) throw notFound();
        return { status: 200, body: present(key) };
      },
    ),

    organizationRoute(
      {
        method: 'patch',
        path: `${path}/{id}`,
        tag,
        operation: 'changeRoleKey',
        summary: 'Update the name and the description of an API key; absent properties are kept',
        description:
          'The role and the expiration cannot change; create a new key, or regenerate this one with a new `expiration_time`.',
        access: write,
        params: OrgAndId,
        body: z
          .object({ name: Name.optional(), description: Description.optional() })
          .openapi('ChangeRoleKey', { example: { description: 'Reads metrics for the dashboard' } }),
        response: { status: 200, description: 'The updated key.', schema: KeyBody },
      },
      (call) => {
        const { name, description } = call.body;
        const values = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
        return change(call, () => values, present);
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: `${path}/{id}`,
        tag,
        operation: 'revokeRoleKey',
        summary: 'Revoke an API key; its sessions end within a second',
        description:
          'The key is not accepted from the next request on, and is no longer in the list. This cannot be undone.',
        access: { permission: 'apikey:delete', session: 'deny' },
        params: OrgAndId,
        response: { status: 200, description: 'A sentence.', schema: z.string(), example: 'The API key is revoked.' },
      },
      (call) =>
        change(
          call,
          () => ({ revokedAt: new Date(clock.now()) }),
          () => JSON.stringify('The API key is revoked.'),
        ),
    ),

    organizationRoute(
      {
        method: 'post',
        path: `${path}/{id}/regenerate`,
        tag,
        operation: 'regenerateRoleKey',
        summary: 'Replace the token of an API key',
        description:
          'Keeps ID, name and role. The previous token and the sessions that were created with it are no longer accepted. The caller must have the permissions of the key.',
        access: write,
        params: OrgAndId,
        body: z
          .object({
            expiration_time: Expiration.optional().openapi({
              description: 'RFC 3339. Absent: unchanged. Required if the key has expired (422).',
            }),
          })
          .openapi('RegenerateRoleKey', { example: { expiration_time: '2099-01-01T00:00:00Z' } }),
        response: { status: 200, description: 'The key with its new token.', schema: KeyWithToken },
        errorStatuses: { 422: 'The key has expired, and `expiration_time` is absent.' },
      },
      (call) => {
        const { principal, body } = call;
        const { text, ...stored } = newToken(vault);
        const expiresAt = body.expiration_time === undefined ? undefined : futureTime(body.expiration_time);
        const regenerate = (key: ApiKey) => {
          // Otherwise this call would hand out a token with more permissions than its caller has.
          requirePermissions(principal, permissionsOf(key), "A key can't regenerate one with permissions it lacks:");
          if (!expiresAt && !isLive(key, clock.now())) {
            throw new ApiError(422, 'invalid_request', 'The API key has expired. Send an expiration_time.');
          }
          return { ...stored, tokenVersion: key.tokenVersion + 1, ...(expiresAt && { expiresAt }) };
        };
        return change(call, regenerate, (changed) => ({ ...present(changed), token: text }));
      },
    ),
  ];
}

/**
 * Returns the permissions of a role that keys of this organization may have. Locks a custom role
 * until the transaction ends.
 */
async function permissionsOfRole(tables: Tables, organizationId: string, roleId: string) {
  const role = defaultRole(roleId) ?? (await tables.roles.hold(organizationId, roleId));
  return role?.permissions;
}

function present(key: StoredApiKey): z.output<typeof KeyBody> {
  return {
    id: key.id,
    organization_id: key.organizationId,
    name: key.name,
    description: key.description,
    ...(key.roleId !== null && { role_id: key.roleId }),
    token_version: key.tokenVersion,
    ...(key.expiresAt && { expiration_time: key.expiresAt.toISOString() }),
    created_at: key.createdAt.toISOString(),
    updated_at: key.updatedAt.toISOString(),
  };
}
