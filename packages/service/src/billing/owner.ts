import { forbidden } from '../api-error.js';
import { organizationOf, type Principal } from '../auth/principal.js';
import type { Organization, ReadTables } from '../store/store.js';

/**
 * Returns the organization whose accounts, products and quotas a caller reads: the organization of its
 * API key; the one in which a user has the permission of the route; or the owner of the billing account
 * that the request names, if a role of the account gives the permission.
 * @throws ApiError 403 for a session, and for a user who only has roles of accounts and names none
 */
export function ownerOf(principal: Principal): string {
  if (principal.type === 'session') throw forbidden('Sessions have no access to billing. Use an API key.');
  const id = organizationOf(principal);
  if (id === undefined) throw forbidden('You have roles of single billing accounts only. Send billing_account_id.');
  return id;
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
    throw forbidden(
      'Only a parent organization bills its teams. Use one of its API keys, or sign in as one of its users.',
    );
  return organization;
}
