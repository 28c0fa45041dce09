import type { Principal } from '../auth/principal.js';
import { defaultRole } from '../permissions.js';
import type { ApiKey, Organization } from '../store/store.js';
import type { AuditActor } from '../store/tables.js';

/** Who changes something, and by which request. */
export interface Author {
  actor: AuditActor;
  /** The API key, or the key that created the session; null for the service itself. */
  apiKeyId: string | null;
  /** The `Request-Id` of the response; empty if there is no request. */
  requestId: string;
}

/**
 * Returns the author of a request's changes.
 * @param organization the organization that the request acts on, if it names one
 */
export function authorOf(principal: Principal, organization: Organization | undefined, requestId: string): Author {
  const { key } = principal;
  if (principal.type === 'session') {
    const { id, organizationId } = principal.session;
    const actor: AuditActor = {
      id,
      name: key.name,
      auth_method: 'session',
      api_key_id: key.id,
      organization_id: organizationId,
    };
    return { actor, apiKeyId: key.id, requestId };
  }
  const role = roleOf(key, organization);
  const actor: AuditActor = { id: key.id, name: key.name, auth_method: 'api_key', ...(role && { role }) };
  return { actor, apiKeyId: key.id, requestId };
}

/** Returns the author of changes that the service makes without a request. */
export const serviceAuthor = (name: string): Author => ({
  actor: { id: name, name, auth_method: 'service' },
  apiKeyId: null,
  requestId: '',
});

function roleOf(key: ApiKey, organization: Organization | undefined): AuditActor['role'] {
  if (key.roleId === null) return undefined;
  return {
    id: key.roleId,
    name: defaultRole(key.roleId)?.name ?? key.roleName ?? '',
    organization_id: key.organizationId,
    // A key of the parent acts on a team.
    inherited: organization !== undefined && organization.id !== key.organizationId,
  };
}
