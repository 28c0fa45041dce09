import type { Catalog } from '@connector-frame/catalog';
import { ApiError, notFound } from '../api-error.js';
import { createDestination, isMarkedSecret } from '../secrets/destination.js';
import { openSecrets } from '../secrets/open-secrets.js';
import { DestinationError, type OrganizationVault, type SecretValue } from '../secrets/vault.js';
import type { Connector, SecretRow, StoredSecret, Tables } from '../store/store.js';
import { invalidConfig } from './plan-write.js';
import { issuesOfValue } from './referred-secrets.js';
import { runtimeConfig } from './runtime-config.js';

interface OwnSecretChange {
  name?: string | undefined;
  description?: string | undefined;
  value?: SecretValue | undefined;
}

/**
 * Changes a secret that belongs to one connector.
 * @returns the secret and its connector
 * @throws ApiError 400 `invalid_config`, 404, or 422 `secret_reentry_required` or
 *   `secret_destination_mismatch`
 */
export async function changeOwnSecret(
  organizationId: string,
  id: string,
  change: OwnSecretChange,
  { tables, vault, catalog, now }: { tables: Tables; vault: OrganizationVault; catalog: Catalog; now: Date },
): Promise<{ secret: StoredSecret; connector: Connector }> {
  const found = await tables.secrets.get(organizationId, id);
  if (!found) throw notFound();
  const [connector] = await tables.connectors.lockAll([organizationId], [found.connectorId]);
  const secret = await tables.secrets.get(organizationId, id);
  if (!connector || !secret) throw notFound();
  const all = await tables.secrets.ofConnector(connector.id);
  const { value } = change;
  const sealed =
    value === undefined ? {} : { sealed: reseal(connector, secret, all, value), destination: null, consent: null };
  const after: StoredSecret = {
    ...secret,
    name: change.name ?? secret.name,
    description: change.description ?? secret.description,
    updatedAt: now,
    ...sealed,
  };
  await tables.secrets.put([rowOf(after)]);
  if (value !== undefined) await tables.connectors.touch([connector.id]);
  return { secret: after, connector };

  function reseal(
    { kind, type: typeId, settings }: Connector,
    { field, connectorId }: StoredSecret,
    stored: readonly StoredSecret[],
    newValue: SecretValue,
  ): Buffer {
    const type = catalog.get(kind, typeId);
    if (!type || isMarkedSecret(type, field))
      throw new ApiError(422, 'secret_reentry_required', 'Change this secret together with its connector.', {
        details: { issues: [{ path: '/value', code: 'required' }] },
      });
    const { openings, marked } = openSecrets(type, settings, stored, vault);
    // The caller does not see the settings here, so they must be those that the secret was saved for.
    if (openings.get(field)?.error instanceof DestinationError)
      throw new ApiError(
        422,
        'secret_destination_mismatch',
        'The secret was saved for other settings than those stored. Check the connector, and enter the secret there.',
      );
    const issues = issuesOfValue(type, runtimeConfig(type, settings, {}).settings, field, newValue);
    if (issues.length > 0) throw invalidConfig(issues.map((issue) => ({ ...issue, path: '/value' })));
    return vault.seal({ connectorId, field }, newValue, createDestination(type, settings, marked));
  }
}

const rowOf = ({ shared: _shared, ...row }: StoredSecret): SecretRow => row;
