import { randomBytes, randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { invalidRequest, notFound } from '../api-error.js';
import { roleNameOf } from '../auth/organization-role.js';
import { organizationRoute, type Route } from '../http/route.js';
import { domainOf, Email } from '../sign-in/email.js';
import { oneLine } from '../sign-in/mailer.js';
import { paths } from '../sign-in/pages/sign-in-pages.js';
import type { Invitation } from '../store/invitations.js';
import type { RouteContext } from './context.js';
import { sendMail } from './login.js';
import { requireGrantable } from './organization-users.js';
import { Id, Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

/** Milliseconds for which an invitation is valid. */
const INVITATION_MS = 7 * 86_400_000;

const InvitationBody = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    email: z.string(),
    role_id: z.string(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
  })
  .openapi('Invitation');

/** Routes that invite people to an organization. */
export function inviteRoutes({ store, signIn, limits, clock }: RouteContext): Route[] {
  const tag = 'Users';
  const path = '/v1/{org}/invites';

  /** @throws ApiError 400 without any way of signing in to accept */
  async function requireSignIn(email: string): Promise<void> {
    if (signIn.oidc || signIn.localAccounts) return;
    if ((await store.ssoConnections.withDomain(domainOf(email))).length > 0) return;
    throw invalidRequest('Users cannot sign in yet: set OIDC_ISSUER or LOCAL_ACCOUNTS, or create a connection.');
  }

  return [
    organizationRoute(
      {
        method: 'post',
        path,
        tag,
        operation: 'inviteUser',
        summary: 'Invite a person to an organization',
        description:
          'The link of the invitation is sent by mail. Without SMTP, the response contains it, to be passed on. It is valid for seven days and once, and only for a sign-in with this address. Another invitation of the same address replaces it.',
        access: { permission: 'user:write', session: 'deny' },
        params: Org,
        body: z
          .object({ email: Email, role_id: Id })
          .openapi('InviteUser', { example: { email: 'ana@example.com', role_id: 'reader' } }),
        response: {
          status: 200,
          description: 'A sentence, or the link.',
          schema: z.string(),
          example: 'The invitation was sent to ana@example.com.',
        },
      },
      async ({ principal, organization, body, commit }) => {
        const { email, role_id: roleId } = body;
        await limits.consume({ invite: organization.id });
        await requireSignIn(email);
        const token = randomBytes(32).toString('base64url');
        const now = clock.now();
        const invitation: Invitation = {
          id: randomUUID(),
          organizationId: organization.id,
          email,
          roleId,
          digest: signIn.tokens.digest(token),
          mailed: signIn.mailer !== undefined,
          createdAt: new Date(now),
          expiresAt: new Date(now + INVITATION_MS),
        };
        const roleName = await commit(async (tables) => {
          await tables.organizations.lock(organization.id);
          await requireGrantable(tables, principal, organization.id, roleId);
          const before = await tables.invitations.lockOf(organization.id, email);
          if (before) await tables.invitations.remove(organization.id, before.id);
          await tables.invitations.insert(invitation);
          const role = await tables.roles.get(organization.id, roleId);
          return { status: 200, body: roleNameOf(roleId, role?.name ?? null) };
        });
        const link = `${signIn.publicUrl}${paths.link}?token=${token}`;
        if (!signIn.mailer) return { status: 200, body: JSON.stringify(link) };
        const name = oneLine(organization.friendlyName === '' ? organization.name : organization.friendlyName);
        await sendMail(signIn, {
          to: email,
          subject: `Invitation to ${name}`,
          text: `You are invited to ${name} with the role ${oneLine(String(roleName.body))}.\n\nAccept the invitation:\n\n${link}\n\nThe link is valid for seven days.\n`,
        });
        return { status: 200, body: JSON.stringify(`The invitation was sent to ${email}.`) };
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path,
        tag,
        operation: 'listInvitations',
        summary: 'List the pending invitations',
        description: 'Oldest first. Expired invitations are left out, and no link is shown again.',
        access: { permission: 'user:read', session: 'deny' },
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description: 'The invitations.',
          schema: z.object({ invites: z.array(InvitationBody), pagination: Pagination }).openapi('InvitationList'),
        },
      },
      async ({ organization, query }) => {
        const { rows, total } = await store.invitations.list(organization.id, query, new Date(clock.now()));
        return { status: 200, body: { invites: rows.map(present), pagination: { ...query, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: `${path}/{id}`,
        tag,
        operation: 'withdrawInvitation',
        summary: 'Withdraw an invitation',
        description: 'Its link stops working at once. A user who has accepted it remains a member.',
        access: { permission: 'user:delete', session: 'deny' },
        params: OrgAndId,
        response: { status: 200, description: 'The withdrawn invitation.', schema: InvitationBody },
      },
      ({ organization, params, commit }) =>
        commit(async (tables) => {
          const invitation = await tables.invitations.lock(organization.id, params.id);
          if (!invitation) throw notFound();
          await tables.invitations.remove(organization.id, invitation.id);
          return { status: 200, body: present(invitation) };
        }),
    ),
  ];
}

const present = (invitation: Invitation): z.output<typeof InvitationBody> => ({
  id: invitation.id,
  organization_id: invitation.organizationId,
  email: invitation.email,
  role_id: invitation.roleId,
  created_at: invitation.createdAt.toISOString(),
  expires_at: invitation.expiresAt.toISOString(),
});
