import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { ApiError, notFound } from '../api-error.js';
import { requirePermissions } from '../auth/key-permissions.js';
import type { Principal } from '../auth/principal.js';
import { ownerOf } from '../billing/owner.js';
import { route, type Route } from '../http/route.js';
import { billingPermissions, describePermission, type Permission } from '../permissions.js';
import type { BillingAccount } from '../store/billing-accounts.js';
import type { BillingRole, BillingRoleUser } from '../store/billing-roles.js';
import type { Tables } from '../store/store.js';
import { Account, Email } from './billing-bodies.js';
import type { RouteContext } from './context.js';
import { Id, Name } from './schemas.js';

const tag = 'Billing';
const path = '/v2/billing/accounts/{id}/roles';
const OneRole = Account.extend({ billing_role: Id.openapi({ description: 'ID of the role.' }) });
const OneUser = OneRole.extend({ billing_user: Id.openapi({ description: 'ID of the user in the role.' }) });

/** Users of one role. */
const MAX_USERS = 1_000;

const Slug = z.enum(billingPermissions);
const fields = {
  name: Name,
  description: z.string().max(2_000),
  permissions: z
    .array(Slug)
    .max(billingPermissions.length)
    .openapi({ description: 'Slugs. The caller must have each of them: 403 names those that it lacks.' }),
};

const RoleBody = z
  .object({
    id: z.string(),
    billing_account_id: z.string(),
    name: z.string(),
    description: z.string(),
    permissions: z.array(z.string()).openapi({ description: 'Slugs.' }),
    users: z.array(z.object({ id: z.string(), email: z.string() })),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('BillingRole');

const PermissionBody = z
  .object({
    id: z.string().openapi({ description: 'The same as `slug`.' }),
    slug: z.string(),
    name: z.string(),
    description: z.string(),
  })
  .openapi('BillingPermission');

const DELETED = 'The role was deleted.';
const ADDED = 'The user has the role.';
const GIVES = "You can't give a role with permissions that you lack:";
const LACKS = "A role can't contain permissions that its author lacks:";

/** Routes for the roles of billing accounts: what users may do with an account, by e-mail address. */
export function billingRoleRoutes({ store, clock }: RouteContext): Route[] {
  const read = { permission: 'billing_account:role:read', session: 'deny', owner: 'account' } as const;
  const write = { permission: 'billing_account:role:write', session: 'deny', owner: 'account' } as const;
  const answer = { status: 200, description: 'The role.', schema: RoleBody } as const;

  /** Returns an account of the caller that is not deleted. */
  async function find(principal: Principal, id: string): Promise<BillingAccount> {
    const account = await store.billingAccounts.get(ownerOf(principal), id);
    if (!account || account.deletedAt) throw notFound();
    return account;
  }

  async function lockRole(
    tables: Tables,
    principal: Principal,
    params: z.output<typeof OneRole>,
  ): Promise<BillingRole> {
    const account = await tables.billingAccounts.lock(ownerOf(principal), params.id);
    const role = account && (await tables.billingRoles.lock(account.id, params.billing_role));
    if (!role) throw notFound();
    return role;
  }

  return [
    route(
      {
        method: 'get',
        path: '/v2/billing/permissions',
        tag,
        operation: 'listBillingPermissions',
        summary: 'List the permissions that roles of billing accounts can have',
        description: 'They are the permissions of API keys that concern billing.',
        access: { permission: 'billing_account:read', session: 'deny', owner: 'account' },
        response: { status: 200, description: 'In alphabetical order.', schema: z.array(PermissionBody) },
      },
      () => ({
        status: 200,
        body: billingPermissions.map((slug) => {
          const text = describePermission(slug);
          return { id: slug, slug, name: text, description: text };
        }),
      }),
    ),

    route(
      {
        method: 'get',
        path,
        tag,
        operation: 'listBillingRoles',
        summary: 'List the roles of a billing account',
        description: 'A role belongs to one account. It says what its users may do with that account.',
        access: read,
        params: Account,
        response: { status: 200, description: 'Oldest first.', schema: z.array(RoleBody) },
      },
      async ({ principal, params }) => {
        const roles = await store.billingRoles.ofAccount((await find(principal, params.id)).id);
        const users = await store.billingRoleUsers.ofRoles(roles.map(({ id }) => id));
        return { status: 200, body: roles.map((role) => present(role, users)) };
      },
    ),

    route(
      {
        method: 'post',
        path,
        tag,
        operation: 'createBillingRole',
        summary: 'Create a role of a billing account',
        description: 'It has no users yet.',
        access: write,
        params: Account,
        body: z
          .object({ ...fields, description: fields.description.default('') })
          .openapi('CreateBillingRole', { example: { name: 'Accounting', permissions: ['billing_account:read'] } }),
        response: answer,
      },
      ({ principal, params, body, commit }) => {
        requirePermissions(principal, body.permissions, LACKS);
        const now = new Date(clock.now());
        return commit(async ({ billingAccounts, billingRoles }) => {
          const account = await billingAccounts.lock(ownerOf(principal), params.id);
          if (!account) throw notFound();
          const role: BillingRole = {
            id: randomUUID(),
            ownerOrganizationId: account.ownerOrganizationId,
            billingAccountId: account.id,
            name: body.name,
            description: body.description,
            permissions: unique(body.permissions),
            createdAt: now,
            updatedAt: now,
          };
          await billingRoles.insert(role);
          return { status: 200, body: present(role, []) };
        });
      },
    ),

    route(
      {
        method: 'get',
        path: `${path}/{billing_role}`,
        tag,
        operation: 'readBillingRole',
        summary: 'Read a role of a billing account with its users',
        description: 'Users are known by their e-mail addresses.',
        access: read,
        params: OneRole,
        response: answer,
      },
      async ({ principal, params }) => {
        const account = await find(principal, params.id);
        const role = await store.billingRoles.get(account.id, params.billing_role);
        if (!role) throw notFound();
        return { status: 200, body: present(role, await store.billingRoleUsers.ofRoles([role.id])) };
      },
    ),

    route(
      {
        method: 'patch',
        path: `${path}/{billing_role}`,
        tag,
        operation: 'changeBillingRole',
        summary: 'Update a role of a billing account; absent properties are kept',
        description: 'An empty list takes all permissions away.',
        access: write,
        params: OneRole,
        body: z
          .object(fields)
          .partial()
          .openapi('ChangeBillingRole', { example: { permissions: ['billing_account:read', 'quota:read'] } }),
        response: answer,
      },
      ({ principal, params, body, commit }) => {
        requirePermissions(principal, body.permissions ?? [], LACKS);
        return commit(async (tables) => {
          const role = await lockRole(tables, principal, params);
          const changed: BillingRole = {
            ...role,
            ...(body.name !== undefined && { name: body.name }),
            ...(body.description !== undefined && { description: body.description }),
            ...(body.permissions && { permissions: unique(body.permissions) }),
            updatedAt: new Date(clock.now()),
          };
          await tables.billingRoles.update(changed);
          return { status: 200, body: present(changed, await tables.billingRoleUsers.ofRoles([role.id])) };
        });
      },
    ),

    route(
      {
        method: 'delete',
        path: `${path}/{billing_role}`,
        tag,
        operation: 'deleteBillingRole',
        summary: 'Delete a role of a billing account, also if users have it',
        description: 'Its users lose it with it.',
        access: { permission: 'billing_account:role:delete', session: 'deny', owner: 'account' },
        params: OneRole,
        response: { status: 202, description: 'A sentence.', schema: z.string(), example: DELETED },
      },
      ({ principal, params, commit }) =>
        commit(async (tables) => {
          const role = await lockRole(tables, principal, params);
          for (const user of await tables.billingRoleUsers.ofRoles([role.id]))
            await tables.billingRoleUsers.remove(user);
          await tables.billingRoles.remove(role.id);
          return { status: 202, body: JSON.stringify(DELETED) };
        }),
    ),

    route(
      {
        method: 'post',
        path: `${path}/{billing_role}/users`,
        tag,
        operation: 'addBillingRoleUser',
        summary: 'Give a role of a billing account to a user',
        description: 'The user is known by the e-mail address, and may not have signed in yet.',
        access: write,
        params: OneRole,
        body: z
          .object({ user_email: Email.transform((email) => email.toLowerCase()).openapi({ type: 'string' }) })
          .openapi('AddBillingRoleUser', { example: { user_email: 'ana@acme.example' } }),
        response: { status: 201, description: 'A sentence.', schema: z.string(), example: ADDED },
        errorStatuses: [409],
      },
      ({ principal, params, body, commit }) =>
        commit(async (tables) => {
          const role = await lockRole(tables, principal, params);
          requirePermissions(principal, role.permissions, GIVES);
          const users = await tables.billingRoleUsers.ofRoles([role.id]);
          if (users.length >= MAX_USERS)
            throw new ApiError(409, 'conflict', `A role has at most ${MAX_USERS} users. Remove one first.`);
          if (!users.some(({ email }) => email === body.user_email))
            await tables.billingRoleUsers.insert({
              id: randomUUID(),
              ownerOrganizationId: role.ownerOrganizationId,
              billingRoleId: role.id,
              email: body.user_email,
              createdAt: new Date(clock.now()),
            });
          return { status: 201, body: JSON.stringify(ADDED) };
        }),
    ),

    route(
      {
        method: 'delete',
        path: `${path}/{billing_role}/users/{billing_user}`,
        tag,
        operation: 'removeBillingRoleUser',
        summary: 'Take a role of a billing account from a user',
        description: 'The role stays, also without users.',
        access: write,
        params: OneUser,
        response: { status: 204, description: 'The user does not have the role.' },
      },
      ({ principal, params, commit }) =>
        commit(async (tables) => {
          const role = await lockRole(tables, principal, params);
          const users = await tables.billingRoleUsers.ofRoles([role.id]);
          const user = users.find(({ id }) => id === params.billing_user);
          if (!user) throw notFound();
          await tables.billingRoleUsers.remove(user);
          return { status: 204 };
        }),
    ),
  ];
}

const unique = (slugs: readonly Permission[]): Permission[] => [...new Set(slugs)];

const present = (role: BillingRole, users: readonly BillingRoleUser[]): z.output<typeof RoleBody> => ({
  id: role.id,
  billing_account_id: role.billingAccountId,
  name: role.name,
  description: role.description,
  permissions: role.permissions,
  users: users.filter(({ billingRoleId }) => billingRoleId === role.id).map(({ id, email }) => ({ id, email })),
  created_at: role.createdAt.toISOString(),
  updated_at: role.updatedAt.toISOString(),
});
