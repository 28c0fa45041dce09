/** Permissions of an API key. A key can only grant permissions that it has itself. */
export const permissions = ['sessions:create', 'read', 'write', 'keys:manage'] as const;

export type Permission = (typeof permissions)[number];
