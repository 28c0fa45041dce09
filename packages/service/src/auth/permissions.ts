/** What an API key may do. A key can give a new key only what it holds itself. */
export const permissions = ['sessions:create', 'read', 'write', 'keys:manage'] as const;

export type Permission = (typeof permissions)[number];
