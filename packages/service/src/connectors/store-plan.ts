import { randomUUID } from 'node:crypto';
import { ApiError, notFound } from '../api-error.js';
import { sealAgain } from '../secrets/open-secrets.js';
import { mayBeSentTo, sealReference, sealShared, withDestination } from '../secrets/references.js';
import { consentExpired } from '../oauth/consents.js';
import type { OrganizationVault } from '../secrets/vault.js';
import type { Connector, Reseal, SecretNote, SecretRow, Tables } from '../store/store.js';
import type { ChangedSecret, WritePlan } from './plan-write.js';
import { notAllowed } from './referred-secrets.js';

/** Where the secrets of a plan are stored. */
interface StorePlace {
  connector: Pick<Connector, 'id' | 'organizationId'>;
  /** The tables of a transaction in which the connector is already stored. */
  tables: Tables;
  vault: OrganizationVault;
  now: Date;
}

/**
 * Seals and stores the secrets of a plan. The connector must already be stored in the same
 * transaction.
 * @throws ApiError 404, 409, or 400 `secret_not_allowed` if a secret that the plan refers to was
 *   changed since
 */
export async function storePlan(plan: WritePlan, place: StorePlace): Promise<SecretNote[]> {
  const { connector, tables, vault } = place;
  await tables.secrets.remove(
    connector.id,
    plan.removed.map(({ id }) => id),
  );
  const rows: SecretRow[] = [];
  // Every transaction locks secrets in the same order.
  for (const secret of plan.changed.toSorted((a, b) => compare(sharedId(a), sharedId(b)))) {
    await storeShared(plan, secret, place);
    // Once, also for two requests at the same time.
    if (secret.consent && !(await tables.consents.consume(secret.consent.id))) throw consentExpired(secret.field);
    rows.push(rowOf(plan, secret, place));
  }
  await tables.secrets.put(rows);
  await tables.secrets.reseal(resealsOf(plan, vault));
  return tables.secrets.notes([connector.id]);
}

const sharedId = ({ reference, shares }: ChangedSecret): string | undefined =>
  reference?.shared.id ?? shares?.secret.id;

const compare = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);

/** Stores what a field refers to: a longer list of destinations, or a secret that becomes shared. */
async function storeShared(plan: WritePlan, { field, value, reference, shares }: ChangedSecret, place: StorePlace) {
  const { connector, tables, vault, now } = place;
  if (reference) {
    const secret = await tables.organizationSecrets.lockUsable(connector.organizationId, reference.shared.id);
    if (!secret) throw notFound();
    if (mayBeSentTo(secret, reference.destination)) return;
    if (!reference.adds || secret.restricted) throw notAllowed([field]);
    await tables.organizationSecrets.update(withDestination(secret, reference.destination, vault, now));
  } else if (shares) {
    const { secret: row, destination } = shares;
    const { id, organizationId, name, description, keyId, createdAt } = row;
    const secret = { id, destinations: [destination], restricted: true };
    const sealed = sealShared(secret, value, vault);
    const metadata = { organizationId, name, description, keyId, version: 1, createdAt, updatedAt: now };
    await tables.organizationSecrets.insert({ ...secret, ...metadata, sealed });
    const reference = sealReference(row, id, plan.destination(row.field), vault);
    const isUnchanged = await tables.secrets.refer({ id, secretId: id, before: row.sealed, sealed: reference });
    if (!isUnchanged) throw new ApiError(409, 'conflict', 'The secret was changed at the same time. Try again.');
  }
}

function rowOf(plan: WritePlan, changed: ChangedSecret, { connector, vault, now }: StorePlace): SecretRow {
  const { field, value, name, description, replaces, consent } = changed;
  const secretId = sharedId(changed) ?? null;
  const at = { connectorId: connector.id, field };
  const destination = plan.destination(field);
  return {
    // A secret of its own keeps its id, but a reference's id may be that of the shared secret.
    id: replaces && secretId === null && replaces.secretId === null ? replaces.id : randomUUID(),
    organizationId: connector.organizationId,
    connectorId: connector.id,
    field,
    name,
    description,
    keyId: vault.keyId,
    sealed: secretId === null ? vault.seal(at, value, destination) : sealReference(at, secretId, destination, vault),
    destination: null,
    createdAt: replaces?.createdAt ?? now,
    updatedAt: now,
    secretId,
    consent: consent ? { account: consent.account, connectedAt: now.toISOString(), needsReauthAt: null } : null,
  };
}

/** Returns the kept secrets that are not bound to every field marked now, sealed again. */
export const resealsOf = (plan: WritePlan, vault: OrganizationVault): Reseal[] =>
  plan.kept
    .filter(({ isCurrent }) => !isCurrent)
    .map(({ secret, value }) => ({
      id: secret.id,
      before: secret.sealed,
      sealed: sealAgain(secret, value, plan.destination(secret.field), vault),
    }));
