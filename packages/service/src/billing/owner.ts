import { forbidden } from '../api-error.js';
import type { Principal } from '../auth/principal.js';
import type { Organization, ReadTables } from '../store/store.js';

/**
 * Returns the organization whose accounts, products and quotas a caller reads: that of its API key.
 * The one place to decide it for another kind of caller.
 */
export function ownerOf(principal: Principal): string {
  if (principal.type === 'session') throw forbidden('Sessions have no access to billing. Use an API key.');
  return principal.key.organizationId;
}

/**
 * Returns the parent organization that a caller bills for. A team that could do that would set its own
 * limits.
 * @throws ApiError 403
 */
export async function requireOwner(
  principal: Principal,
  { organizations }: Pick<ReadTables, 'organizations'>,
): Promise<Organization> {
  const organization = await organizations.get(ownerOf(principal));
  if (!organization || organization.parentId !== null)
    throw forbidden('Only a parent organization bills its teams. Use one of its API keys.');
  return organization;
}
