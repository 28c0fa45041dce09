import type { Permission } from '../permissions.js';
import type { Membership } from '../store/memberships.js';
import type { SignIn } from '../store/sign-ins.js';
import type { ApiKey, Organization } from '../store/store.js';
import type { User } from '../store/users.js';
import { roleIn, type OrganizationRole } from './organization-role.js';
import type { Session } from './session-tokens.js';

/** The API key of a backend. */
export interface KeyPrincipal {
  type: 'key';
  key: ApiKey;
  permissions: ReadonlySet<Permission>;
}

/** A signed-in user. */
export interface UserPrincipal {
  type: 'user';
  user: User;
  signIn: SignIn;
  memberships: readonly Membership[];
  /** The organization that the request names, and the role there. Absent if it names none. */
  organizationId?: string;
  role?: OrganizationRole;
  /**
   * The permissions in the organization that the request names. If it names none: those that the user
   * has in any organization.
   */
  permissions: ReadonlySet<Permission>;
  /** Billing accounts of any owner on which roles give the permission of the route. Only on routes of owners. */
  billingAccountIds?: readonly string[];
}

/** The session of a frame, with its creator as it is now. */
export interface SessionPrincipal {
  type: 'session';
  session: Session;
  creator: KeyPrincipal | UserPrincipal;
}

/** An authenticated caller. */
export type Principal = KeyPrincipal | UserPrincipal | SessionPrincipal;

/**
 * Returns whether an API key or a session may act on an organization: an API key on its own
 * organization and its teams, a session only on its own organization.
 */
export function mayActOn(principal: KeyPrincipal | SessionPrincipal, organization: Organization): boolean {
  return principal.type === 'session'
    ? principal.session.organizationId === organization.id
    : principal.key.organizationId === organization.id || principal.key.organizationId === organization.parentId;
}

/**
 * Returns a user with the role and the permissions in an organization, or `undefined` without a role
 * there.
 */
export function inOrganization(principal: UserPrincipal, organization: Organization): UserPrincipal | undefined {
  const role = roleIn(principal.memberships, organization);
  return role && { ...principal, organizationId: organization.id, role, permissions: role.permissions };
}

/**
 * Returns the organization that a request counts for: that of the API key or the session; of a user,
 * the one that the request names, if any.
 */
export function organizationOf(principal: Principal): string | undefined {
  if (principal.type === 'key') return principal.key.organizationId;
  return principal.type === 'user' ? principal.organizationId : principal.session.organizationId;
}

/** Returns the ID of the caller itself: of an API key, a user or a session. */
export function idOf(principal: Principal): string {
  if (principal.type === 'key') return principal.key.id;
  return principal.type === 'user' ? principal.user.id : principal.session.id;
}

/** Returns the display name of the caller. A session has the name of its creator. */
export function nameOf(principal: Principal): string {
  if (principal.type === 'session') return nameOf(principal.creator);
  return principal.type === 'key' ? principal.key.name : principal.user.username;
}
