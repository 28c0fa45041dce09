import { randomUUID } from 'node:crypto';
import type { OrganizationVault } from '../secrets/vault.js';
import type { Connector, SecretNote, Tables } from '../store/store.js';
import type { WritePlan } from './plan-write.js';

/** Seals and stores what a plan says of the secrets of a connector that stands in the same transaction. */
export async function storePlan(
  plan: WritePlan,
  connector: Pick<Connector, 'id' | 'organizationId'>,
  tables: Tables,
  vault: OrganizationVault,
  now: Date,
): Promise<SecretNote[]> {
  await tables.secrets.remove(plan.removed.map(({ id }) => id));
  await tables.secrets.put(
    plan.changed.map(({ field, value, name, description, replaces }) => ({
      id: replaces?.id ?? randomUUID(),
      organizationId: connector.organizationId,
      connectorId: connector.id,
      field,
      name,
      description,
      keyId: vault.keyId,
      sealed: vault.seal({ connectorId: connector.id, field }, value),
      destination: plan.destination,
      createdAt: replaces?.createdAt ?? now,
      updatedAt: now,
    })),
  );
  return tables.secrets.notes([connector.id]);
}
