import type { Vault } from './vault.js';

/**
 * Returns what the roles of an organization require as `sts:ExternalId`: 43 characters, derived from a
 * key that stays the same when the master key is replaced.
 */
export const awsExternalId = (vault: Pick<Vault, 'digest'>, organizationId: string): string =>
  vault.digest('aws-external-id', organizationId).toString('base64url');
