import type { ConnectorConfig, ConnectorTypeData, Issue } from '@connector-frame/catalog/types';
import { pruneConfig, validateConfig, withDefaults } from '@connector-frame/catalog/validate';
import { givenSettings } from './given-settings.js';
import { ApiError, notFound } from '../api-error.js';
import { createDestination, isMarkedSecret, type Destination } from '../secrets/destination.js';
import type { OrganizationVault, SecretValue } from '../secrets/vault.js';
import { grantIn } from '../oauth/grant.js';
import { consentExpired, type TakenConsent } from '../oauth/consents.js';
import { listedDestination } from '../secrets/listed-destination.js';
import type { ConnectorSecrets, OrganizationSecret, StoredSecret } from '../store/store.js';
import type { ListedDestination } from '../store/tables.js';
import { referredOutput, unknownOutput, type ReferredOutput } from './referred-output.js';
import {
  checkReferences,
  issuesOfValue,
  notAllowed,
  type CheckedReference,
  type Reference,
} from './referred-secrets.js';
import { checkKept, type Kept, type KeptSecret } from './reused-secrets.js';
import { runtimeConfig } from './runtime-config.js';
import { checkSecretValues, type SecretWrite } from './secret-write.js';

/** A configuration as sent, and the previous state of the connector. */
export interface ConfigWrite {
  type: ConnectorTypeData;
  /** The complete settings: an absent setting is removed. */
  settings: Record<string, unknown>;
  /** By field. Absent keeps the stored secret, null clears it. */
  secrets: Readonly<Record<string, SecretWrite | null>>;
  /** The connector to change, or whose secrets a test uses. Absent for a new connector. */
  before?: ConnectorSecrets;
  /** Issues found outside the configuration: name, description. */
  issues?: readonly Issue[];
}

export interface PlanOptions {
  vault: OrganizationVault;
  /**
   * Returns the connector that owns a secret of the organization, if the caller may refer to that
   * secret by id.
   */
  find(id: string): Promise<ConnectorSecrets | undefined>;
  /** Returns a secret of the organization, if the caller may refer to that secret by id. */
  findShared(id: string): Promise<OrganizationSecret | undefined>;
  /** Whether the caller may add destinations to secrets of the organization. */
  mayAdd: boolean;
  /** Returns whether the organization has an output of this type with this id. */
  hasOutput(id: string, type: string): Promise<boolean>;
  /**
   * Returns an account that the caller has connected for this secret and destination. Absent: none.
   * @throws ApiError 422 `consent_expired` or `secret_reentry_required`
   */
  findConsent?(
    id: string,
    secret: { type: ConnectorTypeData; field: string; destination: Destination },
  ): Promise<TakenConsent>;
}

/** A secret to store. With neither `reference` nor `shares`, it belongs to the connector alone. */
export interface ChangedSecret {
  field: string;
  value: SecretValue;
  name: string;
  description: string;
  replaces?: StoredSecret;
  /** The secret of the organization that the field refers to. */
  reference?: CheckedReference;
  /** The secret of another connector that both will refer to. */
  shares?: { secret: StoredSecret; destination: ListedDestination };
  /** The account that was connected. `value` is its tokens. */
  consent?: TakenConsent;
}

/** A validated write. Nothing is stored yet. */
export interface WritePlan {
  /** As given, without fields that are unknown or hidden. */
  settings: Record<string, unknown>;
  /** The output that the settings name. Lock it before the plan is stored. */
  output: ReferredOutput | undefined;
  /** Returns the destination that the secret of a field is sealed for. */
  destination(field: string): Destination;
  kept: KeptSecret[];
  changed: ChangedSecret[];
  removed: StoredSecret[];
}

/**
 * Validates a write against its type, and decides what happens to each secret. A secret is kept
 * only for the destination and the transport it was entered for: a caller who can change an address
 * must not be able to send a secret there without knowing it.
 * @throws ApiError 400 `invalid_config`, 400 for empty or masked secrets, 404 for an unknown secret id,
 *   422 `secret_reentry_required`, `secret_destination_mismatch` or `secret_unreadable`
 */
export async function planWrite(write: ConfigWrite, options: PlanOptions): Promise<WritePlan> {
  const { type, before } = write;
  const stored = before?.secrets ?? [];
  checkSecretValues(write.secrets);
  // Fields that the type no longer declares are not validated; their stored secrets are removed.
  const isDeclared = (field: string): boolean => Object.hasOwn(type.config.secrets.properties, field);
  const kept = new Map<string, Kept>();
  for (const secret of before?.secrets ?? [])
    if (before && isDeclared(secret.field) && write.secrets[secret.field] === undefined)
      kept.set(secret.field, { secret, from: before });
  const typed: Record<string, SecretValue> = {};
  const references = new Map<string, Reference>();
  const consents = new Map<string, string>();
  for (const [field, value] of Object.entries(write.secrets)) {
    if (value === null) continue;
    if ('value' in value) typed[field] = value.value;
    else if ('consent' in value) consents.set(field, value.consent);
    else {
      const own = before?.secrets.find((secret) => (secret.secretId ?? secret.id) === value.id);
      const isKept = own !== undefined && (own.secretId === null || own.field === field);
      const shared = isKept ? undefined : await options.findShared(value.id);
      if (shared) references.set(field, { shared, isNamed: true });
      else kept.set(field, before && own && isKept ? { secret: own, from: before } : await findOwn(value.id));
    }
  }

  async function findOwn(id: string): Promise<Kept> {
    const from = await options.find(id);
    const secret = from?.secrets.find((row) => row.id === id && row.secretId === null);
    if (!from || !secret) throw notFound();
    // Its tokens are refreshed for one connector.
    if (secret.consent) throw notAllowed([secret.field]);
    return { secret, from };
  }

  // Defaults apply when the connector runs. What is stored is what was given.
  const { settings } = withDefaults(type.config, { settings: write.settings });
  const config: ConnectorConfig = { settings, secrets: typed };
  const notTyped = [...kept.keys(), ...references.keys(), ...consents.keys()];
  const issues = [
    ...(write.issues ?? []),
    ...validateConfig(type.config, config, { kept: new Set(notTyped) }),
    ...notTyped
      .filter((field) => !isDeclared(field))
      .map((field): Issue => ({ path: `/secrets/${field}`, code: 'unknown_property' })),
  ];
  if (issues.length > 0) throw invalidConfig(issues);

  // Give each kept secret a placeholder value: pruning then tells whether its field is shown.
  const standIns = Object.fromEntries(notTyped.map((field) => [field, 'kept']));
  const pruned = pruneConfig(type.config, { settings, secrets: { ...typed, ...standIns } });
  const shown = new Set(Object.keys(pruned.secrets));
  for (const field of kept.keys()) if (!shown.has(field)) kept.delete(field);
  for (const field of references.keys()) if (!shown.has(field)) references.delete(field);
  for (const field of consents.keys()) if (!shown.has(field)) consents.delete(field);
  const shownTyped = new Map(Object.entries(typed).filter(([field]) => shown.has(field)));
  const checked = checkKept({ type, settings: pruned.settings, typed: shownTyped, kept }, options.vault);

  for (const [field, shared] of checked.moved)
    references.set(field, { shared, isNamed: write.secrets[field] !== undefined });
  const referring = { type, settings: pruned.settings, marked: checked.marked, references, mayAdd: options.mayAdd };
  const referred = checkReferences(referring, options.vault);
  const unfit = [...referred].flatMap(([field, { value }]) => issuesOfValue(type, pruned.settings, field, value));
  if (unfit.length > 0) throw invalidConfig(unfit);

  const output = referredOutput(type, pruned.settings);
  if (output && !(await options.hasOutput(output.id, output.type))) throw unknownOutput(output);

  const ofSettings = createDestination(type, pruned.settings);
  const ofAll = createDestination(type, pruned.settings, checked.marked);
  const granted = new Map<string, TakenConsent>();
  for (const [field, id] of consents) granted.set(field, await findConsent(field, id));
  const plan: WritePlan = {
    settings: givenSettings(write.settings, pruned.settings),
    output,
    destination: (field) => (isMarkedSecret(type, field) ? ofSettings : ofAll),
    kept: [],
    changed: [],
    removed: stored.filter(({ field }) => !shown.has(field)),
  };
  for (const field of shown) {
    const secret = checked.kept.get(field);
    const replaces = stored.find((row) => row.field === field);
    const reference = referred.get(field);
    const consent = granted.get(field);
    const value = secret?.value ?? reference?.value ?? consent?.value ?? typed[field];
    if (secret && secret.secret.id === replaces?.id) plan.kept.push(secret);
    else if (value !== undefined)
      plan.changed.push({
        field,
        value,
        ...describe(write, field, secret?.secret ?? replaces),
        ...(replaces ? { replaces } : {}),
        ...(reference ? { reference } : {}),
        ...(consent ? { consent } : {}),
        ...(secret ? { shares: { secret: secret.secret, destination: here() } } : {}),
      });
  }
  return plan;

  function findConsent(field: string, id: string): Promise<TakenConsent> {
    if (!options.findConsent) throw consentExpired(field);
    return options.findConsent(id, { type, field, destination: ofSettings });
  }

  function here(): ListedDestination {
    return listedDestination(type, pruned.settings, checked.marked, options.vault);
  }
}

/** Returns the configuration with secrets in plain text, for a connection test. */
export const openPlan = (plan: WritePlan, type: ConnectorTypeData): ConnectorConfig =>
  runtimeConfig(
    type,
    plan.settings,
    Object.fromEntries([
      ...plan.kept.map(({ secret, value }) => [secret.field, plainValue(value, secret.consent)] as const),
      ...plan.changed.map(({ field, value, consent }) => [field, plainValue(value, consent)] as const),
    ]),
  );

/** Of a connected account, connectors see the token that is valid now. */
const plainValue = (value: SecretValue, consent: unknown): SecretValue =>
  consent ? grantIn(value).accessToken : value;

function describe(write: ConfigWrite, field: string, before: StoredSecret | undefined) {
  const sent = write.secrets[field];
  const given = sent && 'value' in sent ? sent : undefined;
  const title = write.type.config.secrets.properties[field]?.title ?? field;
  return { name: given?.name ?? before?.name ?? title, description: given?.description ?? before?.description ?? '' };
}

/** Creates the error for invalid fields, each identified by its JSON Pointer. */
export const invalidConfig = (issues: readonly Issue[]): ApiError =>
  new ApiError(400, 'invalid_config', 'Some fields are not valid.', { details: { issues } });
