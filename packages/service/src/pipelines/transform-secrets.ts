import { referredSecrets } from '@connector-frame/engine';
import { notFound } from '../api-error.js';
import type { Referrer } from '../connectors/referrer.js';
import { notAllowed } from '../connectors/referred-secrets.js';
import { SealError } from '../secrets/cipher.js';
import { TRANSFORMS } from '../secrets/listed-destination.js';
import { mayBeSentTo, openShared, withDestination } from '../secrets/references.js';
import type { OrganizationVault } from '../secrets/vault.js';
import type { OrganizationSecret, ReadTables, Tables } from '../store/store.js';
import type { StoredTransform } from '../store/tables.js';

/**
 * Returns a function for the values of secrets that transforms refer to. It returns `undefined` for
 * a secret that transforms may not use, holds a map, or was changed outside of the service.
 *
 * @param isAllowed whether transforms may use a secret. Default: its list names them
 */
export function resolverOf(
  secrets: readonly OrganizationSecret[],
  vault: OrganizationVault,
  isAllowed = (secret: OrganizationSecret): boolean => mayBeSentTo(secret, TRANSFORMS),
): (id: string) => string | undefined {
  return (id) => {
    const secret = secrets.find((each) => each.id === id);
    if (!secret || !isAllowed(secret)) return undefined;
    try {
      const value = openShared(secret, vault);
      return typeof value === 'string' ? value : undefined;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  };
}

/**
 * Returns a function for the values of the secrets that a new configuration refers to.
 * @throws ApiError 400 `secret_not_allowed`
 */
export async function referredValues(
  config: StoredTransform,
  tables: ReadTables,
  { organizationId, vault, mayAdd }: Referrer,
): Promise<(id: string) => string | undefined> {
  const secrets = await tables.organizationSecrets.some(organizationId, referredSecrets(config));
  const refused = secrets.filter((secret) => !mayBeSentTo(secret, TRANSFORMS) && !(mayAdd && !secret.restricted));
  if (refused.length > 0) throw notAllowed(refused.map(({ id }) => id));
  return resolverOf(secrets, vault, () => true);
}

/**
 * Locks the secrets that a transform refers to, and adds the transforms to their lists. Call it in
 * the transaction that stores the transform.
 * @throws ApiError 404, or 400 `secret_not_allowed`
 */
export async function holdSecrets(
  config: StoredTransform,
  tables: Tables,
  { organizationId, vault, mayAdd }: Referrer,
  now: Date,
): Promise<void> {
  // Every transaction locks secrets in the same order.
  for (const id of referredSecrets(config).sort()) {
    const secret = await tables.organizationSecrets.lock(organizationId, id);
    if (!secret) throw notFound();
    if (mayBeSentTo(secret, TRANSFORMS)) continue;
    if (!mayAdd || secret.restricted) throw notAllowed([id]);
    await tables.organizationSecrets.update(withDestination(secret, TRANSFORMS, vault, now));
  }
}
