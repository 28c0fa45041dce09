import type { ConnectorConfig, ConnectorTypeData, Issue } from '@connector-frame/catalog/types';
import { destinationOf, pruneConfig, validateConfig } from '@connector-frame/catalog/validate';
import { ApiError, notFound } from '../http/api-error.js';
import type { OrganizationVault, SecretValue } from '../secrets/vault.js';
import type { StoredSecret } from '../store/store.js';
import { checkSecretValues, type SecretWrite } from './secret-write.js';

/** A configuration as it was sent, and what there was before. */
export interface ConfigWrite {
  type: ConnectorTypeData;
  /** All settings: absent ones are gone. */
  settings: Record<string, unknown>;
  /** Absent keeps, null clears. */
  secrets: Readonly<Record<string, SecretWrite | null>>;
  stored: readonly StoredSecret[];
  /** What is wrong beside the configuration: name, description. */
  issues?: readonly Issue[];
}

export interface PlanOptions {
  vault: OrganizationVault;
  /** A secret of the organization that the caller may refer to by id. */
  find(id: string): Promise<StoredSecret | undefined>;
  /** Digest of a destination. */
  digest(destination: string): string;
}

/** A checked write: nothing has happened yet. */
export interface WritePlan {
  /** Pruned: only what is shown, only what is declared. */
  settings: Record<string, unknown>;
  destination: string;
  kept: StoredSecret[];
  changed: { field: string; value: SecretValue; name: string; description: string; replaces?: StoredSecret }[];
  removed: StoredSecret[];
}

/**
 * Checks a write against its type, and decides what becomes of each secret. A kept secret stays only where it was typed for:
 * whoever may change an address must not be able to send a secret there that they never knew.
 * @throws ApiError 400 for values that can't be meant, 404 for an unknown secret id, 422 `invalid_config` or `secret_reentry_required`
 */
export async function planWrite(write: ConfigWrite, options: PlanOptions): Promise<WritePlan> {
  const { type, stored } = write;
  checkSecretValues(write.secrets);
  // A field that the type has no more is not asked about; what is stored of it goes.
  const isDeclared = (field: string): boolean => Object.hasOwn(type.config.secrets.properties, field);
  const kept = new Map(
    stored
      .filter(({ field }) => isDeclared(field) && write.secrets[field] === undefined)
      .map((secret) => [secret.field, secret]),
  );
  const typed: Record<string, SecretValue> = {};
  for (const [field, value] of Object.entries(write.secrets)) {
    if (value === null) continue;
    if ('value' in value) typed[field] = value.value;
    else {
      const secret = stored.find(({ id }) => id === value.id) ?? (await options.find(value.id));
      if (!secret) throw notFound();
      kept.set(field, secret);
    }
  }

  const config: ConnectorConfig = { settings: write.settings, secrets: typed };
  const issues = [
    ...(write.issues ?? []),
    ...validateConfig(type.config, config, { kept: new Set(kept.keys()) }),
    ...[...kept.keys()]
      .filter((field) => !isDeclared(field))
      .map((field): Issue => ({ path: `/secrets/${field}`, code: 'unknown_property' })),
  ];
  if (issues.length > 0) throw invalidConfig(issues);

  // A kept secret takes part with any value, so that pruning says whether its field is shown.
  const standIns = Object.fromEntries([...kept.keys()].map((field) => [field, 'kept']));
  const pruned = pruneConfig(type.config, { settings: write.settings, secrets: { ...typed, ...standIns } });
  const shown = new Set(Object.keys(pruned.secrets));
  const destination = options.digest(
    JSON.stringify([type.kind, type.type_id, destinationOf(type.config, pruned.settings)]),
  );
  // A connection string is an address too.
  const hasNewAddress = Object.keys(typed).some(
    (field) => shown.has(field) && type.config.secrets.properties[field]?.['x-destination'] === true,
  );
  const moved = [...kept].filter(
    ([field, secret]) =>
      shown.has(field) && (hasNewAddress || secret.destination !== destination || secret.field !== field),
  );
  if (moved.length > 0) throw reentryRequired(moved.map(([field]) => field));

  const plan: WritePlan = { settings: pruned.settings, destination, kept: [], changed: [], removed: [] };
  const place = (field: string) => stored.find((secret) => secret.field === field);
  for (const field of shown) {
    const secret = kept.get(field);
    const replaces = place(field);
    if (secret && secret.id === replaces?.id) plan.kept.push(secret);
    else {
      const value = secret ? options.vault.open(secret, secret.sealed) : typed[field];
      if (value !== undefined)
        plan.changed.push({
          field,
          value,
          ...describe(write, field, secret ?? replaces),
          ...(replaces ? { replaces } : {}),
        });
    }
  }
  plan.removed = stored.filter(({ field }) => !shown.has(field));
  return plan;
}

/** The configuration in clear, for a connection test. */
export function openPlan(plan: WritePlan, vault: OrganizationVault): ConnectorConfig {
  return {
    settings: plan.settings,
    secrets: Object.fromEntries([
      ...plan.kept.map((secret) => [secret.field, vault.open(secret, secret.sealed)] as const),
      ...plan.changed.map(({ field, value }) => [field, value] as const),
    ]),
  };
}

function describe(write: ConfigWrite, field: string, before: StoredSecret | undefined) {
  const sent = write.secrets[field];
  const given = sent && 'value' in sent ? sent : undefined;
  const title = write.type.config.secrets.properties[field]?.title ?? field;
  return { name: given?.name ?? before?.name ?? title, description: given?.description ?? before?.description ?? '' };
}

/** Fields that are not valid, each by its pointer. */
export const invalidConfig = (issues: readonly Issue[]): ApiError =>
  new ApiError(422, 'invalid_config', 'Some fields are not valid.', { details: { issues } });

const reentryRequired = (fields: readonly string[]): ApiError =>
  new ApiError(422, 'secret_reentry_required', 'The destination has changed: enter the secrets again.', {
    details: { issues: fields.map((field): Issue => ({ path: `/secrets/${field}`, code: 'required' })) },
  });
