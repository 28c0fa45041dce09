import type { KeyPrincipal, Principal, SessionPrincipal, UserPrincipal } from '../auth/principal.js';
import { roleNameOf } from '../auth/organization-role.js';
import { nameOf, organizationOf } from '../auth/principal.js';
import type { Organization } from '../store/store.js';
import type { AuditActor, SignInMethod } from '../store/tables.js';
import type { User } from '../store/users.js';

/** Who changes something, and by which request. */
export interface Author {
  actor: AuditActor;
  /** The API key, or the key that created the session; null for users and the service itself. */
  apiKeyId: string | null;
  /** The organization of the caller, or the one that the request names; null if there is none. */
  organizationId: string | null;
  /** The `Request-Id` of the response; empty if there is no request. */
  requestId: string;
}

/**
 * Returns the author of a request's changes.
 * @param organization the organization that the request acts on, if it names one
 */
export function authorOf(principal: Principal, organization: Organization | undefined, requestId: string): Author {
  const organizationId = organizationOf(principal) ?? null;
  if (principal.type === 'user') return { actor: userActor(principal), apiKeyId: null, organizationId, requestId };
  const isKey = principal.type === 'key';
  const actor = isKey ? keyActor(principal, organization) : sessionActor(principal);
  const key = isKey ? principal : principal.creator;
  return { actor, apiKeyId: key.type === 'key' ? key.key.id : null, organizationId, requestId };
}

/** Returns the author of changes that a user makes by signing in, such as accepting an invitation. */
export const signInAuthor = (user: User, method: SignInMethod, requestId: string): Author => ({
  actor: { id: user.id, name: user.username, email: user.email, auth_method: method },
  apiKeyId: null,
  organizationId: null,
  requestId,
});

/** Returns the author of changes that the service makes without a request. */
export const serviceAuthor = (name: string): Author => ({
  actor: { id: name, name, auth_method: 'service' },
  apiKeyId: null,
  organizationId: null,
  requestId: '',
});

function sessionActor(principal: SessionPrincipal): AuditActor {
  const { session, creator } = principal;
  return {
    id: session.id,
    name: nameOf(principal),
    auth_method: 'session',
    ...(creator.type === 'key'
      ? { api_key_id: creator.key.id }
      : { user_id: creator.user.id, email: creator.user.email }),
    organization_id: session.organizationId,
  };
}

function userActor({ user, signIn, role }: UserPrincipal): AuditActor {
  return {
    id: user.id,
    name: user.username,
    email: user.email,
    auth_method: signIn.method,
    ...(role && {
      role: {
        id: role.roleId,
        name: role.roleName,
        organization_id: role.sourceOrganizationId,
        inherited: role.inherited,
      },
    }),
  };
}

function keyActor({ key }: KeyPrincipal, organization: Organization | undefined): AuditActor {
  const actor: AuditActor = { id: key.id, name: key.name, auth_method: 'api_key' };
  if (key.roleId === null) return actor;
  return {
    ...actor,
    role: {
      id: key.roleId,
      name: roleNameOf(key.roleId, key.roleName),
      organization_id: key.organizationId,
      // A key of the parent acts on a team.
      inherited: organization !== undefined && organization.id !== key.organizationId,
    },
  };
}
