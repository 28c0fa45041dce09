import { z } from '@hono/zod-openapi';
import { ApiError, forbidden, invalidRequest, notFound } from '../api-error.js';
import { requirePermissions } from '../auth/key-permissions.js';
import { permissionsIn } from '../auth/organization-role.js';
import type { Principal } from '../auth/principal.js';
import { organizationRoute, type Route } from '../http/route.js';
import { defaultRole, defaultRoles, type Permission } from '../permissions.js';
import type { Member, Membership } from '../store/memberships.js';
import type { Organization, ReadTables, Tables } from '../store/store.js';
import type { User } from '../store/users.js';
import type { RouteContext } from './context.js';
import { Id, Org, OrgAndId, PageQuery, Pagination } from './schemas.js';
import { OrganizationUserBody, presentMember } from './user-bodies.js';

const Empty = z.object({}).openapi('Empty');
const LOCKED_IN = 'The role is inherited, or no other administrator would be left.';

/** Routes for the members of an organization. */
export function organizationUserRoutes({ store, clock, principals }: RouteContext): Route[] {
  const tag = 'Users';
  const path = '/v1/{org}/users';
  const write = { permission: 'user:write', session: 'deny' } as const;
  const response = { status: 200, description: 'The member.', schema: OrganizationUserBody } as const;
  const nowDate = (): Date => new Date(clock.now());

  return [
    organizationRoute(
      {
        method: 'get',
        path,
        tag,
        operation: 'listMembers',
        summary: 'List the members of an organization',
        description: 'Members of the parent organization are included: their roles are inherited.',
        access: { permission: 'user:read', session: 'deny' },
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description: 'In the order in which they joined.',
          schema: z
            .object({ users: z.array(OrganizationUserBody), pagination: Pagination })
            .openapi('OrganizationUserList'),
        },
      },
      async ({ organization, query }) => {
        const { rows, total } = await store.memberships.list(organization, query);
        const identities = await store.users.identities(rows.map(({ userId }) => userId));
        const users = rows.map((member) => presentMember(member, organization.id, identities));
        return { status: 200, body: { users, pagination: { ...query, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path,
        tag,
        operation: 'addMember',
        summary: 'Give a user a role in an organization',
        description:
          'For users who are members of this organization, its parent or one of its teams; the operator can name any user. Others are invited.',
        access: write,
        params: Org,
        body: z
          .object({ user_id: Id, role_id: Id })
          .openapi('AddMember', { example: { user_id: 'id-of-a-user', role_id: 'reader' } }),
        response,
        errorStatuses: { 409: 'The user is a member already.' },
      },
      async ({ principal, organization, body, commit }) => {
        const result = await commit(async (tables) => {
          await tables.organizations.lock(organization.id);
          await requireGrantable(tables, principal, organization.id, body.role_id);
          const user = await knownUser(tables, principal, organization, body.user_id);
          if (await tables.memberships.lock(organization.id, user.id)) {
            throw new ApiError(409, 'conflict', 'The user is a member already. PATCH changes the role.');
          }
          const now = nowDate();
          const values = { organizationId: organization.id, userId: user.id, roleId: body.role_id };
          await tables.memberships.insert({ ...values, createdAt: now, updatedAt: now, user });
          return { status: 200, body: await present(tables, organization, user.id) };
        });
        principals.forget();
        return result;
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path: `${path}/leave`,
        tag,
        operation: 'leaveOrganization',
        summary: 'Leave an organization, as a user',
        description:
          'For users only. The user is deleted if this was the last role. A role that is inherited from the parent organization is left there.',
        access: { permission: 'any', session: 'deny' },
        params: Org,
        response: { status: 200, description: 'An empty object.', schema: Empty },
        errorStatuses: { 409: 'No other administrator would be left.' },
      },
      async ({ principal, organization, commit }) => {
        if (principal.type !== 'user') throw forbidden('Only a user can leave an organization.');
        const result = await commit(async (tables) => {
          await tables.organizations.lock(organization.id);
          const member = await tables.memberships.lock(organization.id, principal.user.id);
          if (!member) throw invalidRequest('Your role is inherited. Leave the parent organization instead.');
          await remove(tables, principal, organization, member);
          return { status: 200, body: {} };
        });
        principals.forget();
        return result;
      },
    ),

    organizationRoute(
      {
        method: 'patch',
        path: `${path}/{id}`,
        tag,
        operation: 'changeMember',
        summary: 'Change the role of a member',
        description: 'It acts on the next request of the user.',
        access: write,
        params: OrgAndId,
        body: z
          .object({
            role_id: Id.optional(),
            user_auth_provider_id: Id.optional().openapi({ description: 'If given, an `auth_provider` of the user.' }),
          })
          .openapi('ChangeMember', { example: { role_id: 'contributor' } }),
        response,
        errorStatuses: { 409: LOCKED_IN },
      },
      async ({ principal, organization, params, body, commit }) => {
        const result = await commit(async (tables) => {
          await tables.organizations.lock(organization.id);
          const member = await ownMember(tables, principal, organization, params.id, body.user_auth_provider_id);
          if (body.role_id !== undefined && body.role_id !== member.roleId) {
            await requireGrantable(tables, principal, organization.id, body.role_id);
            await tables.memberships.update({ ...member, roleId: body.role_id, updatedAt: nowDate() });
            await requireAdministrator(tables, principal, organization, member);
          }
          return { status: 200, body: await present(tables, organization, member.userId) };
        });
        principals.forget();
        return result;
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: `${path}/{id}`,
        tag,
        operation: 'removeMember',
        summary: 'Remove a member from an organization',
        description: 'It acts on the next request of the user. API keys that the user created remain.',
        access: { permission: 'user:delete', session: 'deny' },
        params: OrgAndId,
        query: z.object({
          user_auth_provider_id: Id.optional().openapi({ description: 'If given, an `auth_provider` of the user.' }),
        }),
        response: { status: 200, description: 'An empty object.', schema: Empty },
        errorStatuses: { 409: LOCKED_IN },
      },
      async ({ principal, organization, params, query, commit }) => {
        const result = await commit(async (tables) => {
          await tables.organizations.lock(organization.id);
          const member = await ownMember(tables, principal, organization, params.id, query.user_auth_provider_id);
          await remove(tables, principal, organization, member);
          return { status: 200, body: {} };
        });
        principals.forget();
        return result;
      },
    ),
  ];
}

async function present(tables: ReadTables, organization: Organization, userId: string) {
  const member = await tables.memberships.find(organization, userId);
  if (!member) throw notFound();
  return presentMember(member, organization.id, await tables.users.identities([userId]));
}

/** Removes a member, and the user if that was the last role. */
async function remove(tables: Tables, principal: Principal, organization: Organization, member: Member) {
  await tables.memberships.remove(member);
  await requireAdministrator(tables, principal, organization, member);
  await tables.users.deleteUnused(member.userId);
}

/**
 * Returns the permissions of a role of an organization, after checking that the caller has them all.
 * Locks a custom role until the transaction ends.
 * @throws ApiError 400 for an unknown role, 403
 */
export async function requireGrantable(
  tables: Tables,
  principal: Principal,
  organizationId: string,
  roleId: string,
): Promise<readonly Permission[]> {
  const role = defaultRole(roleId) ?? (await tables.roles.hold(organizationId, roleId));
  if (!role) throw invalidRequest('role_id is not a role of this organization.');
  requirePermissions(principal, role.permissions, "A caller can't grant what it lacks:");
  return role.permissions;
}

/**
 * Returns a user whom a caller may add: one of the organization, its parent or its teams. The operator
 * may add any.
 * @throws ApiError 400, also for a user of another organization
 */
async function knownUser(
  tables: Tables,
  principal: Principal,
  organization: Organization,
  userId: string,
): Promise<User> {
  const user = await tables.users.lock(userId);
  if (!user) throw unknownUser();
  const family = await familyOf(tables, organization);
  if (user.connectionId !== null) {
    // The identity provider of an organization must reach nothing else.
    const connection = await tables.ssoConnections.ofSignIn(user.connectionId);
    if (connection?.organizationId !== organization.id && connection?.organizationId !== organization.parentId) {
      throw unknownUser();
    }
    return user;
  }
  if (principal.type === 'key' && principal.key.isOperator) return user;
  const memberships = await tables.memberships.ofUser(userId);
  if (!memberships.some(({ organizationId }) => family.includes(organizationId))) throw unknownUser();
  return user;
}

const familyOf = async (tables: Tables, { id, parentId }: Organization): Promise<string[]> =>
  parentId === null ? [id, ...(await tables.organizations.teamIds(id))] : [id, parentId];

/**
 * Reads and locks a member. A caller can't change members with more permissions.
 * @throws ApiError 403, 404, or 409 for an inherited role
 */
async function ownMember(
  tables: Tables,
  principal: Principal,
  organization: Organization,
  userId: string,
  providerId: string | undefined,
): Promise<Member> {
  const member = await tables.memberships.lock(organization.id, userId);
  if (!member) {
    if (!(await tables.memberships.find(organization, userId))) throw notFound();
    throw new ApiError(409, 'conflict', 'The role is inherited. Change it in the parent organization.');
  }
  if (providerId !== undefined) {
    const identities = await tables.users.identities([userId]);
    if (!identities.some(({ id }) => id === providerId)) throw notFound();
  }
  requirePermissions(principal, permissionsIn(member), "A caller can't change a member with permissions it lacks:");
  return member;
}

/**
 * Requires that an organization keeps an administrator after a user lost a role. API keys may
 * remove the last administrator, because they are another way in.
 * @param lost the membership as it was before
 * @throws ApiError 409
 */
async function requireAdministrator(
  tables: Tables,
  principal: Principal,
  { id, parentId }: Organization,
  lost: Membership,
): Promise<void> {
  const admin = defaultRoles.admin.id;
  if (principal.type !== 'user' || lost.roleId !== admin) return;
  if ((await tables.memberships.countWithRole(parentId === null ? [id] : [id, parentId], admin)) > 0) return;
  throw new ApiError(409, 'conflict', 'The last administrator of an organization cannot leave. Add another one first.');
}

const unknownUser = () =>
  invalidRequest('user_id is not a user that you know. Invite people with POST /v1/{org}/invites.');
