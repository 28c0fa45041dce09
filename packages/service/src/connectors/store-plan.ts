import { randomUUID } from 'node:crypto';
import type { OrganizationVault } from '../secrets/vault.js';
import type { Connector, Reseal, SecretNote, Tables } from '../store/store.js';
import type { WritePlan } from './plan-write.js';

/**
 * Seals and stores the secrets of a plan. The connector must already be stored in the same
 * transaction.
 */
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
      sealed: vault.seal({ connectorId: connector.id, field }, value, plan.destination(field)),
      destination: null,
      createdAt: replaces?.createdAt ?? now,
      updatedAt: now,
    })),
  );
  await tables.secrets.reseal(resealsOf(plan, vault));
  return tables.secrets.notes([connector.id]);
}

/** Returns the kept secrets that are not bound to every field marked now, sealed again. */
export const resealsOf = (plan: WritePlan, vault: OrganizationVault): Reseal[] =>
  plan.kept
    .filter(({ isCurrent }) => !isCurrent)
    .map(({ secret, value }) => ({
      id: secret.id,
      before: secret.sealed,
      sealed: vault.seal(secret, value, plan.destination(secret.field)),
    }));
