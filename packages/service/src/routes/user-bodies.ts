import { z } from '@hono/zod-openapi';
import { roleNameOf } from '../auth/organization-role.js';
import type { Member } from '../store/memberships.js';
import type { User, UserIdentity } from '../store/users.js';

const AuthProvider = z.object({
  id: z.string(),
  provider: z.enum(['local', 'oidc', 'saml', 'api_key']),
  provider_id: z.string().openapi({ description: 'The subject at the provider.' }),
});

/** How a user is recognized. */
export const UserAuthProvider = AuthProvider.extend({
  user_id: z.string(),
  connection_id: z.string().optional().openapi({ description: 'Of SAML.' }),
  created_at: z.iso.datetime(),
}).openapi('UserAuthProvider');

export const ShortAuthProvider = AuthProvider.openapi('ShortAuthProvider');

/** A user, independent of organizations. */
export const UserBody = z
  .object({
    id: z.string(),
    email: z.string(),
    username: z.string(),
    auth_providers: z.array(UserAuthProvider).openapi({ description: 'Empty until the first sign-in.' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('User');

/** A user as a member of an organization. */
export const OrganizationUserBody = z
  .object({
    id: z.string(),
    email: z.string(),
    username: z.string(),
    role_id: z.string(),
    role_name: z.string(),
    inherited: z.boolean().openapi({ description: 'The role is one of the parent organization.' }),
    source_organization_id: z.string().openapi({ description: 'The organization that the role belongs to.' }),
    source_organization_name: z.string(),
    connection_id: z.string().optional().openapi({ description: 'The connection that the user belongs to.' }),
    auth_provider: UserAuthProvider.optional().openapi({ description: 'Absent until the first sign-in.' }),
    created_at: z.iso.datetime().openapi({ description: 'When the user joined.' }),
    updated_at: z.iso.datetime(),
  })
  .openapi('OrganizationUser');

export const presentProvider = (identity: UserIdentity): z.output<typeof UserAuthProvider> => ({
  ...presentShortProvider(identity),
  user_id: identity.userId,
  ...(identity.provider === 'saml' && { connection_id: identity.issuer }),
  created_at: identity.createdAt.toISOString(),
});

export const presentShortProvider = ({ id, provider, subject }: UserIdentity): z.output<typeof ShortAuthProvider> => ({
  id,
  provider,
  provider_id: subject,
});

export const presentUser = (user: User, identities: readonly UserIdentity[]): z.output<typeof UserBody> => ({
  id: user.id,
  email: user.email,
  username: user.username,
  auth_providers: identities.map(presentProvider),
  created_at: user.createdAt.toISOString(),
  updated_at: user.updatedAt.toISOString(),
});

/** @param identities of several users, oldest first */
export function presentMember(
  member: Member,
  organizationId: string,
  identities: readonly UserIdentity[],
): z.output<typeof OrganizationUserBody> {
  const { user } = member;
  const identity = identities.find(({ userId }) => userId === user.id);
  return {
    id: user.id,
    email: user.email,
    username: user.username,
    role_id: member.roleId,
    role_name: roleNameOf(member.roleId, member.roleName),
    inherited: member.organizationId !== organizationId,
    source_organization_id: member.organizationId,
    source_organization_name: member.organizationName,
    ...(user.connectionId !== null && { connection_id: user.connectionId }),
    ...(identity && { auth_provider: presentProvider(identity) }),
    created_at: member.createdAt.toISOString(),
    updated_at: member.updatedAt.toISOString(),
  };
}
