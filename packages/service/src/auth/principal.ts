import type { Permission } from '../permissions.js';
import type { ApiKey, Organization } from '../store/store.js';
import type { Session } from './session-tokens.js';

/** An authenticated caller: the API key of a backend, or the session of a frame. */
export type Principal =
  | { type: 'key'; key: ApiKey; permissions: ReadonlySet<Permission> }
  | { type: 'session'; session: Session; key: ApiKey };

/**
 * Returns whether a caller may act on an organization: an API key on its own organization and its
 * teams, a session only on its own organization.
 */
export function mayActOn(principal: Principal, organization: Organization): boolean {
  return principal.type === 'session'
    ? principal.session.organizationId === organization.id
    : principal.key.organizationId === organization.id || principal.key.organizationId === organization.parentId;
}
