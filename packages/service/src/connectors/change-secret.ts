import type { Catalog } from '@connector-frame/catalog';
import { parseTransform, referredSecrets } from '@connector-frame/engine';
import { ApiError, notFound } from '../api-error.js';
import { listedDestination, TRANSFORMS } from '../secrets/listed-destination.js';
import { openSecrets } from '../secrets/open-secrets.js';
import { isSameDestination, mayBeSentTo, openShared, sealShared } from '../secrets/references.js';
import type { OrganizationVault, SecretValue } from '../secrets/vault.js';
import type { OrganizationSecret, SecretUse, Tables } from '../store/store.js';
import type { ListedDestination } from '../store/tables.js';
import { issuesOfValue } from './referred-secrets.js';
import { runtimeConfig } from './runtime-config.js';

/** A change of a secret of the organization. What is absent stays. */
export interface SecretChange {
  name?: string | undefined;
  description?: string | undefined;
  value?: SecretValue | undefined;
  /** The complete list; null: components that refer to it may add theirs. */
  destinations?: readonly ListedDestination[] | null | undefined;
}

interface ChangeTools {
  /** The tables of the transaction. */
  tables: Tables;
  /** The vault of the organization that owns the secret. */
  vault: OrganizationVault;
  vaultOf: (organizationId: string) => Promise<OrganizationVault>;
  catalog: Catalog;
  now: Date;
}

/**
 * Changes a secret for all components that use it.
 *
 * @returns the secret, and the connectors and transforms whose pipelines must apply the new value
 * @throws ApiError 400 `invalid_config`, 404, 409, or 422 `secret_reentry_required`
 */
export async function changeSecret(
  organizationId: string,
  id: string,
  change: SecretChange,
  tools: ChangeTools,
): Promise<{ secret: OrganizationSecret; applyTo: string[] }> {
  const { tables, vault, now } = tools;
  // Components first, as in their own writes.
  const locked = await lockUsers(organizationId, id, tables);
  const before = await tables.organizationSecrets.lock(organizationId, id);
  if (!before) throw notFound();
  const uses = await tables.organizationSecrets.allUses(organizationId, id);
  if (uses.some((use) => !locked.has(use.id)))
    throw new ApiError(409, 'conflict', 'Another component began to use the secret at the same time. Try again.');

  const after = withChange(before, change, now);
  if (change.value !== undefined) await requireFitting(uses, change.value, tools);
  if (change.destinations) await requireNoUseElsewhere(uses, after, tools);
  if (change.value !== undefined || change.destinations !== undefined)
    after.sealed = sealShared(after, change.value ?? openShared(before, vault), vault);
  await tables.organizationSecrets.update(after, change.value !== undefined);
  if (change.value === undefined) return { secret: after, applyTo: [] };
  await tables.connectors.touch(idsOf(uses, false));
  await tables.transforms.touch(idsOf(uses, true));
  return { secret: after, applyTo: [...idsOf(uses, false), ...idsOf(uses, true)] };
}

const idsOf = (uses: readonly SecretUse[], isTransform: boolean): string[] => [
  ...new Set(uses.filter(({ kind }) => (kind === 'transform') === isTransform).map((use) => use.id)),
];

async function lockUsers(organizationId: string, id: string, tables: Tables): Promise<Set<string>> {
  const uses = await tables.organizationSecrets.allUses(organizationId, id);
  const owners = [...new Set(uses.map((use) => use.organizationId))];
  const rows: { id: string }[] = await tables.connectors.lockAll(owners, idsOf(uses, false));
  for (const transformId of idsOf(uses, true).sort()) {
    const row = await tables.transforms.lock(organizationId, transformId);
    if (row) rows.push(row);
  }
  return new Set(rows.map((row) => row.id));
}

function withChange(before: OrganizationSecret, change: SecretChange, now: Date): OrganizationSecret {
  const after = {
    ...before,
    name: change.name ?? before.name,
    description: change.description ?? before.description,
    version: before.version + 1,
    updatedAt: now,
  };
  const { destinations } = change;
  if (destinations === undefined) return after;
  // Only who knows the value may widen the list: it decides where the value is sent.
  const isWider = destinations === null ? before.restricted : !destinations.every((one) => mayBeSentTo(before, one));
  if (isWider && change.value === undefined)
    throw new ApiError(422, 'secret_reentry_required', 'New destinations require the value of the secret.', {
      details: { issues: [{ path: '/value', code: 'required' }] },
    });
  return { ...after, destinations: destinations ?? before.destinations, restricted: destinations !== null };
}

/**
 * Requires that a value is valid in every field that uses the secret.
 * @throws ApiError 400 naming one of the components
 */
async function requireFitting(
  uses: readonly SecretUse[],
  value: SecretValue,
  { tables, catalog }: ChangeTools,
): Promise<void> {
  for (const use of uses) {
    const { id, organizationId, kind, type: typeId, field } = use;
    if (kind === 'transform') {
      await requireFittingTransform(use, value, tables);
      continue;
    }
    const type = catalog.get(kind, typeId);
    const connector = await tables.connectors.get(organizationId, kind, id);
    if (!type || !connector) continue;
    const { settings } = runtimeConfig(type, connector.settings, {});
    const issues = issuesOfValue(type, settings, field, value);
    if (issues.length === 0) continue;
    throw unfit(
      use,
      issues.map(({ code }) => code),
    );
  }
}

/** Requires that the operations of a transform can use a value. */
async function requireFittingTransform(use: SecretUse, value: SecretValue, tables: Tables): Promise<void> {
  const transform = await tables.transforms.get(use.organizationId, use.id);
  if (!transform) return;
  // Other operations are valid already, and jq programs take a while.
  const operations = transform.config.operations.filter(
    (operation) => referredSecrets({ operations: [operation] }).length > 0,
  );
  const resolveSecret = (id: string) => (id === use.secretId && typeof value === 'string' ? value : undefined);
  const parsed = await parseTransform({ operations }, { resolveSecret });
  const own = parsed.ok ? [] : parsed.problems.filter(({ code }) => code === 'invalid');
  if (own.length > 0 || typeof value !== 'string') throw unfit(use, ['format']);
}

const unfit = ({ kind, id, type, field }: SecretUse, codes: readonly string[]): ApiError =>
  new ApiError(400, 'invalid_config', 'The value is not valid in a component that uses the secret.', {
    details: { issues: codes.map((code) => ({ path: '/value', code })), [kind]: { id, type, field } },
  });

/**
 * Requires that the list contains the destinations of all connectors that use the secret.
 * @throws ApiError 409 naming the others
 */
async function requireNoUseElsewhere(
  uses: readonly SecretUse[],
  secret: OrganizationSecret,
  { tables, vault, vaultOf, catalog }: ChangeTools,
): Promise<void> {
  const others: SecretUse[] = [];
  for (const use of uses) {
    if (use.kind === 'transform') {
      if (!mayBeSentTo(secret, TRANSFORMS)) others.push(use);
      continue;
    }
    const type = catalog.get(use.kind, use.type);
    const found = await tables.connectors.withSecrets(use.organizationId, use.id);
    if (!type || !found) continue;
    const { marked } = openSecrets(type, found.connector.settings, found.secrets, await vaultOf(use.organizationId));
    const destination = listedDestination(type, found.connector.settings, marked, vault);
    if (!secret.destinations.some((one) => isSameDestination(one, destination))) others.push(use);
  }
  if (others.length > 0)
    throw new ApiError(409, 'conflict', 'Components use the secret at a destination that the list lacks.', {
      details: namesOf(others),
    });
}

const MOST_NAMED = 20;

/** Returns components by kind, for the details of an error. */
export function namesOf(uses: readonly SecretUse[]): Record<string, unknown> {
  const of = (wanted: SecretUse['kind']) =>
    uses
      .filter(({ kind }) => kind === wanted)
      .slice(0, MOST_NAMED)
      .map(({ id, organizationId, type, name }) => ({ id, organization_id: organizationId, type, name }));
  return { inputs: of('input'), outputs: of('output'), transforms: of('transform'), total: uses.length };
}
