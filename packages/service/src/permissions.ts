/**
 * Every permission, by its slug: what it allows. A route names the permissions that an API key
 * or a user needs. Add an entry together with the first route that needs it.
 */
const descriptions = {
  'alert_rule:delete': 'Delete alert rules',
  'alert_rule:read': 'Read alerts and alert rules',
  'alert_rule:write': 'Create and change alert rules',
  'apikey:delete': 'Revoke API keys',
  'apikey:read': 'Read API keys, without their tokens',
  'apikey:write': 'Create, change and regenerate API keys',
  'billing_account:delete': 'Delete billing accounts',
  'billing_account:read': 'Read billing accounts, their statements, and products',
  'billing_account:role:delete': 'Delete roles of billing accounts',
  'billing_account:role:read': 'Read roles of billing accounts, with the e-mail addresses of their users',
  'billing_account:role:write': 'Create and change roles of billing accounts, and give them to users',
  'billing_account:write': 'Create, change and suspend billing accounts, and decide which teams and product they have',
  'billing_product:delete': 'Delete products',
  'billing_product:write': 'Create and change products',
  'connection:delete': 'Delete connections for single sign-on, with their users',
  'connection:read': 'Read connections for single sign-on',
  'connection:write': 'Create and change connections for single sign-on',
  'enrichment:delete': 'Delete enrichments',
  'enrichment:read': 'Read enrichments and the types of enrichments',
  'enrichment:write': 'Create, change and test enrichments',
  'input:delete': 'Delete inputs',
  'input:read': 'Read inputs and the types of inputs',
  'input:write': 'Create, change and test inputs, and read the tokens that they receive records with',
  'organization:delete': 'Delete teams with all they own',
  'organization:logs:read': 'Read the audit log, and the log of pipelines and requests, of the organization',
  'organization:read': 'Read the organization and its teams',
  'organization:write': 'Create teams, and change the organization and its teams',
  'output:delete': 'Delete outputs',
  'output:read': 'Read outputs and the types of outputs',
  'output:write': 'Create, change and test outputs',
  'pipeline:data:read':
    'Read records: dead letters, records that are being retried, samples of those that pass, and their fields',
  'pipeline:data:write': 'Replay and delete records that are not delivered yet',
  'pipeline:delete': 'Delete pipelines',
  'pipeline:logs:read': 'Read the logs of pipelines',
  'pipeline:metrics:read': 'Read the counts of pipelines over time',
  'pipeline:read': 'Read pipelines and their status',
  'pipeline:write': 'Create, change, pause, retry and trigger pipelines',
  'quota:delete': 'Delete quotas',
  'quota:read': 'Read quotas of the organization and its teams',
  'quota:write': 'Create and change quotas',
  'resource_share:read': 'Read which outputs and secrets teams can use',
  'resource_share:write': 'Share outputs and secrets with teams, and stop it',
  'role:delete': 'Delete roles',
  'role:read': 'Read roles and the list of permissions',
  'role:write': 'Create and change roles',
  'secrets:delete': 'Delete secrets',
  'secrets:read': 'Read the names, destinations and users of secrets, never their values',
  'secrets:write': 'Create, rotate and rename secrets, and use secrets that are not restricted at new destinations',
  'session:create': 'Create sessions for the form',
  'transform:delete': 'Delete transforms',
  'transform:read': 'Read transforms',
  'transform:write': 'Create and change transforms',
  'usage:read': 'Read and export usage',
  'user:delete': 'Remove members of the organization, and withdraw invitations',
  'user:read': 'Read members of the organization and invitations',
  'user:write': 'Invite people, and change the roles of members',
} as const;

/** Slug of a permission of an API key. A key can only grant permissions that it has itself. */
export type Permission = keyof typeof descriptions;

/** The slugs of all permissions, in alphabetical order. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys returns string[]
export const permissions = Object.keys(descriptions) as [Permission, ...Permission[]];

/** The permissions that roles of billing accounts can have. */
export const billingPermissions = permissions.filter((permission) => /^(billing_account|quota):/.test(permission));

/** Returns what a permission allows, in a few words. */
export const describePermission = (permission: Permission): string => descriptions[permission];

/** What `read` and `write` exclude: who may do what, and who did what. */
const isManagement = (permission: Permission): boolean =>
  /^(apikey:|connection:|role:|user:|organization:logs:|billing_account:role:)/.test(permission);
const isRead = (permission: Permission): boolean => permission.endsWith(':read');

/** Named sets of permissions that a key can be created with, besides single permissions. */
export const permissionSets = {
  'sessions:create': ['session:create'],
  read: permissions.filter((permission) => isRead(permission) && !isManagement(permission)),
  write: permissions.filter((permission) => /:(write|delete)$/.test(permission) && !isManagement(permission)),
  'keys:manage': permissions.filter(isManagement),
} as const satisfies Record<string, readonly Permission[]>;

/** What a key is created with: a permission, or a set of permissions. */
export type Grant = Permission | keyof typeof permissionSets;

/** All permissions and sets. */
export const grants = [
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys returns string[]
  ...(Object.keys(permissionSets) as (keyof typeof permissionSets)[]),
  ...permissions,
] as const;

const sets: Readonly<Record<string, readonly Permission[]>> = permissionSets;
const isPermission = (text: string): text is Permission => Object.hasOwn(descriptions, text);

/** Returns the permissions that grants stand for. Ignores those that this release does not know. */
export function expandGrants(granted: readonly string[]): Set<Permission> {
  return new Set(
    granted.flatMap((grant) => (Object.hasOwn(sets, grant) ? (sets[grant] ?? []) : isPermission(grant) ? [grant] : [])),
  );
}

/** A role that every organization has and that can't be changed. */
export interface DefaultRole {
  id: string;
  name: string;
  description: string;
  permissions: readonly Permission[];
}

const CONTRIBUTOR = /^(alert_rule|apikey|enrichment|input|output|pipeline|secrets|session|transform):/;

/** The protected roles of every organization. */
export const defaultRoles = {
  admin: { id: 'admin', name: 'Admin', description: 'Every permission.', permissions },
  contributor: {
    id: 'contributor',
    name: 'Contributor',
    description: 'Reads everything; changes all but organizations, shares, roles, quotas and billing.',
    permissions: permissions.filter((permission) => isRead(permission) || CONTRIBUTOR.test(permission)),
  },
  reader: {
    id: 'reader',
    name: 'Reader',
    description: 'Reads everything and changes nothing.',
    permissions: permissions.filter(isRead),
  },
} as const satisfies Record<string, DefaultRole>;

const byId: Readonly<Record<string, DefaultRole>> = defaultRoles;

/** Returns the default role with this ID. */
export const defaultRole = (id: string): DefaultRole | undefined => (Object.hasOwn(byId, id) ? byId[id] : undefined);
