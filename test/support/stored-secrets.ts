import { loadCatalog, type ConnectorConfig } from '@connector-frame/catalog';
import { openSecrets } from '../../packages/service/src/secrets/open-secrets.js';
import type { Vault } from '../../packages/service/src/secrets/vault.js';
import type { ConnectorSecrets, Tables } from '../../packages/service/src/store/store.js';

interface Keeper {
  store: Tables;
  vault: Vault;
}

/** Reads a connector with its secrets, as stored. */
export async function readConnector(store: Tables, organizationId: string, id: string): Promise<ConnectorSecrets> {
  const found = await store.connectors.withSecrets(organizationId, id);
  if (!found) throw new Error(`no connector ${id}`);
  return found;
}

/**
 * Returns the plaintext secrets of a connector, by field.
 * @throws the error of the first secret that can't be decrypted
 */
export async function openStored(
  { store, vault }: Keeper,
  organizationId: string,
  id: string,
): Promise<ConnectorConfig['secrets']> {
  const { connector, secrets } = await readConnector(store, organizationId, id);
  const type = loadCatalog().get(connector.kind, connector.type);
  if (!type) throw new Error(`no type ${connector.type}`);
  const own = await vault.ofOrganization(store, organizationId);
  const { openings } = openSecrets(type, connector.settings, secrets, own);
  return Object.fromEntries(
    Array.from(openings, ([field, opening]) => {
      if (opening.error) throw opening.error;
      return [field, opening.value];
    }),
  );
}
