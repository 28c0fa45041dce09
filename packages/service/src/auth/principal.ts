import type { ApiKey, Organization } from '../store/store.js';
import type { Session } from './session-tokens.js';

/** Who asks: an API key of a backend, or a session of a frame. */
export type Principal = { type: 'key'; key: ApiKey } | { type: 'session'; session: Session; key: ApiKey };

/** A key acts on its own organization and on its teams; a session on its one organization. */
export function mayActOn(principal: Principal, organization: Organization): boolean {
  return principal.type === 'session'
    ? principal.session.organizationId === organization.id
    : principal.key.organizationId === organization.id || principal.key.organizationId === organization.parentId;
}
