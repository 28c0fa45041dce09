import { defaultRole, expandGrants, type Permission } from '../permissions.js';
import type { Membership } from '../store/memberships.js';
import type { Organization } from '../store/store.js';

/** What a user may do in an organization, and by which role. */
export interface OrganizationRole {
  roleId: string;
  roleName: string;
  /** The organization that the role belongs to: the organization itself or its parent. */
  sourceOrganizationId: string;
  inherited: boolean;
  permissions: ReadonlySet<Permission>;
}

type Family = Pick<Organization, 'id' | 'parentId'>;

/** Returns the name of a role, which may be a default role. */
export const roleNameOf = (roleId: string, roleName: string | null): string =>
  defaultRole(roleId)?.name ?? roleName ?? '';

/** Returns the permissions of a membership. One whose role does not exist has none. */
export const permissionsIn = ({ roleId, rolePermissions }: Membership): Set<Permission> =>
  expandGrants(defaultRole(roleId)?.permissions ?? rolePermissions ?? []);

/**
 * Returns the role of a user in an organization, or `undefined` if the user has none there. A role in
 * a team adds to the one that is inherited from its parent, so that a team can't take permissions
 * from the administrators of its parent.
 */
export function roleIn(memberships: readonly Membership[], { id, parentId }: Family): OrganizationRole | undefined {
  const own = memberships.find(({ organizationId }) => organizationId === id);
  const inherited =
    parentId === null ? undefined : memberships.find(({ organizationId }) => organizationId === parentId);
  const shown = own ?? inherited;
  if (!shown) return undefined;
  return {
    roleId: shown.roleId,
    roleName: roleNameOf(shown.roleId, shown.roleName),
    sourceOrganizationId: shown.organizationId,
    inherited: own === undefined,
    permissions: new Set([own, inherited].flatMap((membership) => (membership ? [...permissionsIn(membership)] : []))),
  };
}

/** Returns the permissions that a user has in at least one organization. */
export const permissionsAnywhere = (memberships: readonly Membership[]): Set<Permission> =>
  new Set(memberships.flatMap((membership) => [...permissionsIn(membership)]));
