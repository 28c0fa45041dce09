import type { Catalog } from '@connector-frame/catalog';
import type { Logger } from 'pino';
import type { ConnectorSecrets, Reseal, Store, StoredSecret } from '../store/store.js';
import { describeError } from '../describe-error.js';
import { SealError } from './cipher.js';
import { openSecrets } from './open-secrets.js';
import type { OrganizationVault, Vault } from './vault.js';

export interface MigrateFormat1Options {
  store: Store;
  vault: Vault;
  catalog: Catalog;
  log: Logger;
  /** Stops between two connectors; the next start continues. */
  signal: AbortSignal;
}

/** Connectors per page. */
const PAGE = 50;

/**
 * Reseals secrets that an earlier release sealed without their destination, then refuses that
 * format permanently. Several replicas may run it concurrently. Resolves immediately on a database
 * without such secrets.
 */
export async function migrateFormat1({ store, vault, catalog, log, signal }: MigrateFormat1Options): Promise<void> {
  let moved = 0;
  for (let after = ''; !signal.aborted;) {
    const page = await store.secrets.inFormat1(after, PAGE);
    for (const found of page) {
      if (signal.aborted) return;
      const { organizationId, id } = found.connector;
      after = id;
      try {
        const own = await vault.ofOrganization(store, organizationId);
        const reseals = resealsOf(found, catalog, own, (problem, field) =>
          log.warn({ connector_id: id, field }, problem),
        );
        await store.secrets.reseal(reseals);
        moved += reseals.length;
      } catch (error) {
        // The data key itself was changed. Other organizations are not affected.
        if (!(error instanceof SealError)) throw error;
        log.warn({ connector_id: id, problem: describeError(error) }, 'could not reseal secrets');
      }
    }
    if (page.length < PAGE) break;
  }
  if (signal.aborted) return;
  const left = await vault.rejectFormat1(store);
  if (moved > 0 || left > 0) log.info({ secrets: moved, keys_left: left }, 'secrets resealed in format 2');
}

function resealsOf(
  { connector, secrets }: ConnectorSecrets,
  catalog: Catalog,
  vault: OrganizationVault,
  warn: (problem: string, field: string) => void,
): Reseal[] {
  const type = catalog.get(connector.kind, connector.type);
  const reseals = type ? [...openSecrets(type, connector.settings, secrets, vault).reseals] : [];
  const done = new Set(reseals.map(({ id }) => id));
  for (const secret of secrets)
    if (secret.destination !== null && !done.has(secret.id)) reseals.push(resealUnchanged(secret, vault, warn));
  return reseals;
}

/**
 * Reseals a secret whose destination is unknown or differs: it stays bound to the destination that
 * its row names.
 */
function resealUnchanged(
  secret: StoredSecret,
  vault: OrganizationVault,
  warn: (problem: string, field: string) => void,
): Reseal {
  const { id, field, sealed: before } = secret;
  try {
    const sealed = vault.migrateFormat1(secret);
    warn('secret was stored for another destination, or for a type that this release does not have', field);
    return { id, before, sealed };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    warn('secret is unreadable', field);
    return { id, before, sealed: before };
  }
}
