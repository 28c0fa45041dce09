import { forbidden } from '../api-error.js';
import { defaultRole, expandGrants, type Permission } from '../permissions.js';
import type { ApiKey } from '../store/store.js';
import type { Principal } from './principal.js';

/**
 * Returns what a key may do: the permissions of its role, or those that it was created with. A key
 * whose role does not exist has none.
 */
export function permissionsOf({ roleId, permissions, rolePermissions }: ApiKey): ReadonlySet<Permission> {
  if (roleId === null) return expandGrants(permissions);
  return expandGrants(defaultRole(roleId)?.permissions ?? rolePermissions ?? []);
}

/** Returns whether a caller is a key or a user with this permission; a session has none. */
export const hasPermission = (principal: Principal | undefined, permission: Permission): boolean =>
  principal !== undefined && principal.type !== 'session' && principal.permissions.has(permission);

/**
 * Requires that a caller has all of these permissions itself.
 * @param action what the caller lacks them for, as the beginning of the message
 * @throws ApiError 403 that names the missing ones
 */
export function requirePermissions(principal: Principal, needed: Iterable<Permission>, action: string): void {
  if (principal.type === 'session') throw forbidden('Sessions have no permissions. Use an API key.');
  const missing = [...needed].filter((permission) => !principal.permissions.has(permission));
  if (missing.length === 0) return;
  const names = missing.map((permission) => `"${permission}"`).join(', ');
  throw forbidden(`${action} ${names}.`, { missing_permissions: missing });
}
