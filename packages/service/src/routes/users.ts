import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { ApiError, forbidden, invalidRequest, notFound } from '../api-error.js';
import { permissionsOf } from '../auth/key-permissions.js';
import { roleNameOf } from '../auth/organization-role.js';
import type { KeyPrincipal, UserPrincipal } from '../auth/principal.js';
import { route, type Route } from '../http/route.js';
import { Email } from '../sign-in/email.js';
import { paths } from '../sign-in/pages/sign-in-pages.js';
import type { Organization } from '../store/store.js';
import type { RouteContext } from './context.js';
import { PermissionBody, presentPermission } from './roles.js';
import { Id } from './schemas.js';
import { presentShortProvider, presentUser, ShortAuthProvider, UserBody } from './user-bodies.js';

/** Seconds for which the operator's link to new credentials is valid. */
const RESET_TTL = 86_400;
/** Seconds for which the link to a second factor is valid. */
const MFA_TTL = 900;

const Caller = z
  .object({
    id: z.string().openapi({ description: 'ID of the user, or of the API key.' }),
    email: z.string().optional().openapi({ description: 'Absent for an API key.' }),
    username: z.string(),
    auth_provider: ShortAuthProvider.optional(),
    organization_role: z.object({
      organization_id: z.string(),
      role_id: z.string().optional().openapi({ description: 'Absent for an API key that has permissions instead.' }),
      role_name: z.string().optional(),
      inherited: z.boolean(),
      source_organization_id: z.string(),
      permissions: z.array(PermissionBody),
    }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('Caller');

const Method = z.object({
  id: z.string(),
  type: z.enum(['totp', 'recovery-code']),
  confirmed: z.boolean(),
  name: z.string(),
  created_at: z.iso.datetime(),
});

const any = { permission: 'any', session: 'deny' } as const;
const operator = (permission: 'user:write' | 'user:delete') =>
  ({ permission, session: 'deny', operator: true }) as const;
const UserId = z.object({ id: Id });

/** Routes for users themselves, and for the operator, who creates and deletes them. */
export function userRoutes(context: RouteContext): Route[] {
  const { store, accessControl, signIn, clock, principals } = context;
  const tag = 'Users';

  async function presentCaller(
    principal: UserPrincipal | KeyPrincipal,
    organization: Organization,
  ): Promise<z.output<typeof Caller>> {
    if (principal.type === 'key') return presentKey(principal, organization);
    const { user, role, signIn: session } = principal;
    const identities = await store.users.identities([user.id]);
    const identity = identities.find(({ provider }) => provider === session.method);
    return {
      id: user.id,
      email: user.email,
      username: user.username,
      ...(identity && { auth_provider: presentShortProvider(identity) }),
      organization_role: {
        organization_id: organization.id,
        role_id: role?.roleId,
        role_name: role?.roleName,
        inherited: role?.inherited ?? false,
        source_organization_id: role?.sourceOrganizationId ?? organization.id,
        permissions: [...principal.permissions].sort().map(presentPermission),
      },
      created_at: user.createdAt.toISOString(),
      updated_at: user.updatedAt.toISOString(),
    };
  }

  return [
    route(
      {
        method: 'get',
        path: '/v1/users',
        tag,
        operation: 'readCaller',
        summary: 'Read the user of the request, with the role in an organization',
        description: 'Also for an API key: its ID, name, role and permissions.',
        access: any,
        query: z.object({ organization_id: Id.openapi({ description: 'The organization whose role is returned.' }) }),
        response: { status: 200, description: 'The caller.', schema: Caller },
      },
      async ({ principal: caller, query }) => {
        const entered = await accessControl.enter(caller, query.organization_id, any).catch((error: unknown) => {
          // As the public API does. An unknown organization gives the same response.
          if (error instanceof ApiError && error.status === 404) throw forbidden('No access to this organization.');
          throw error;
        });
        if (entered.principal.type === 'session') throw forbidden('Sessions are no users.');
        return { status: 200, body: await presentCaller(entered.principal, entered.organization) };
      },
    ),

    route(
      {
        method: 'post',
        path: '/v1/users',
        tag,
        operation: 'createUser',
        summary: 'Create a user without an organization',
        description:
          'Only for an API key of the operator: others invite people. The user signs in with the confirmed address at the identity provider, or by the link of `POST /v1/users/{id}/reset`. A user without a role for 30 days is deleted.',
        access: operator('user:write'),
        body: z
          .object({ email: Email, username: z.string().trim().min(1).max(200).optional() })
          .openapi('CreateUser', { example: { email: 'ana@example.com', username: 'Ana' } }),
        response: { status: 200, description: 'The user.', schema: UserBody },
        errorStatuses: { 409: 'A user with this address exists.' },
      },
      async ({ body }) => {
        const now = new Date(clock.now());
        const user = {
          id: randomUUID(),
          connectionId: null,
          email: body.email,
          username: body.username ?? body.email,
          emailVerifiedAt: null,
          createdAt: now,
          updatedAt: now,
        };
        if (await store.users.byEmail(user.email, null)) throw taken();
        await store.users.create(user);
        return { status: 200, body: presentUser(user, []) };
      },
    ),

    route(
      {
        method: 'delete',
        path: '/v1/users/{id}',
        tag,
        operation: 'deleteUser',
        summary: 'Delete a user with all roles, sign-ins and credentials',
        description: 'Only for an API key of the operator. Members of an organization are removed by its own route.',
        access: operator('user:delete'),
        params: UserId,
        response: { status: 204, description: 'The user was deleted.' },
        errorStatuses: { 409: 'The user still has roles.' },
      },
      async ({ params }) => {
        const user = await store.users.get(params.id);
        if (!user) throw notFound();
        if (!(await store.users.deleteUnused(user.id))) {
          throw new ApiError(
            409,
            'conflict',
            'The user still has roles. Remove the user from the organizations first.',
          );
        }
        principals.forget();
        return { status: 204 };
      },
    ),

    route(
      {
        method: 'post',
        path: '/v1/users/{id}/reset',
        tag,
        operation: 'resetUser',
        summary: 'Create a link to a new password and a new second factor',
        description:
          'Only for an API key of the operator, for a local account whose password or phone is lost. Valid for a day and once. The present credentials work until then.',
        access: operator('user:write'),
        params: UserId,
        response: { status: 200, description: 'The link.', schema: z.object({ url: z.string() }).openapi('ResetLink') },
        errorStatuses: { 409: 'The user signs in through an identity provider.' },
      },
      async ({ params }) => {
        const user = await store.users.get(params.id);
        if (!user) throw notFound();
        if (!signIn.localAccounts || user.connectionId !== null) {
          throw new ApiError(409, 'conflict', 'The user signs in through an identity provider.');
        }
        await store.signIns.withdraw(user.id, 'reset');
        const ticket = { purpose: 'reset', userId: user.id, content: { factor: true }, seconds: RESET_TTL };
        return { status: 200, body: { url: linkOf(await signIn.tokens.ticket(ticket)) } };
      },
    ),

    route(
      {
        method: 'get',
        path: '/v3/users/mfa',
        tag,
        operation: 'readSecondFactor',
        summary: 'Read the second factor of the user of the request',
        description: 'Of a local account. The second factor of others is a matter of their identity provider.',
        access: any,
        response: {
          status: 200,
          description: 'The second factor.',
          schema: z.object({ enabled: z.boolean(), methods: z.array(Method) }).openapi('SecondFactor'),
        },
      },
      async ({ principal }) => {
        if (principal.type !== 'user') throw forbidden('An API key has no second factor.');
        const found = await store.users.credentials(principal.user.id);
        if (!found?.totp) return { status: 200, body: { enabled: false, methods: [] } };
        const created_at = (found.totpCreatedAt ?? found.updatedAt).toISOString();
        const method = { confirmed: true, created_at };
        const methods = [
          { id: 'totp', type: 'totp', name: 'Authenticator app', ...method },
          ...(found.recoveryCodes.length > 0
            ? [
                {
                  id: 'recovery-code',
                  type: 'recovery-code',
                  name: `${found.recoveryCodes.length} recovery codes`,
                  ...method,
                },
              ]
            : []),
        ];
        return { status: 200, body: { enabled: true, methods } };
      },
    ),

    route(
      {
        method: 'post',
        path: '/v3/users/mfa',
        tag,
        operation: 'beginSecondFactor',
        summary: 'Create a link to a page that sets up an authenticator app',
        description: 'Valid for 15 minutes and once. The page asks for the password. It replaces the present app.',
        access: any,
        response: {
          status: 200,
          description: 'The link.',
          schema: z.object({ ticket_id: z.string(), ticket_url: z.string() }).openapi('SecondFactorTicket'),
        },
      },
      async ({ principal }) => {
        if (principal.type !== 'user') throw forbidden('An API key has no second factor.');
        if (!(await store.users.credentials(principal.user.id))) {
          throw invalidRequest('You sign in through an identity provider. Set up the second factor there.');
        }
        await store.signIns.withdraw(principal.user.id, 'mfa');
        const ticket = { purpose: 'mfa', userId: principal.user.id, content: {}, seconds: MFA_TTL };
        const token = await signIn.tokens.ticket(ticket);
        return { status: 200, body: { ticket_id: token, ticket_url: linkOf(token) } };
      },
    ),
  ];

  function linkOf(token: string): string {
    return `${signIn.publicUrl}${paths.link}?token=${token}`;
  }
}

const taken = (): ApiError => new ApiError(409, 'conflict', 'A user with this e-mail address exists.');

function presentKey({ key }: KeyPrincipal, organization: Organization): z.output<typeof Caller> {
  return {
    id: key.id,
    username: key.name,
    auth_provider: { id: key.id, provider: 'api_key', provider_id: key.id },
    organization_role: {
      organization_id: organization.id,
      ...(key.roleId !== null && { role_id: key.roleId, role_name: roleNameOf(key.roleId, key.roleName) }),
      inherited: key.organizationId !== organization.id,
      source_organization_id: key.organizationId,
      permissions: [...permissionsOf(key)].sort().map(presentPermission),
    },
    created_at: key.createdAt.toISOString(),
    updated_at: key.updatedAt.toISOString(),
  };
}
