import type { ConnectorTypeData, Issue } from '@connector-frame/catalog/types';
import { ApiError } from '../api-error.js';
import { SealError } from '../secrets/cipher.js';
import { createDestination, isMarkedSecret, type Destination } from '../secrets/destination.js';
import { openSecret, openSecrets, type OpenedSecrets } from '../secrets/open-secrets.js';
import type { OrganizationVault, SecretValue } from '../secrets/vault.js';
import type { ConnectorSecrets, OrganizationSecret, StoredSecret } from '../store/store.js';

/** A stored secret that a write keeps or refers to, and the connector it belongs to. */
export interface Kept {
  secret: StoredSecret;
  from: ConnectorSecrets;
}

/** A kept secret that passed the checks, with its value in plain text. */
export interface KeptSecret {
  secret: StoredSecret;
  value: SecretValue;
  /** Whether it is bound to every field that is marked now. If not, it must be sealed again. */
  isCurrent: boolean;
}

/** The part of a write that the checks of kept secrets depend on. */
export interface KeptWrite {
  type: ConnectorTypeData;
  /** Settings as they will be stored. */
  settings: Record<string, unknown>;
  /** New values, by field. */
  typed: ReadonlyMap<string, SecretValue>;
  /** Kept secrets, by the field that will use them. */
  kept: ReadonlyMap<string, Kept>;
}

/**
 * Why a secret cannot be kept: the write changes its destination, the stored settings are not the
 * ones it was saved for, or it cannot be opened.
 */
type Failure = { reason: 'moved' | 'mismatch' | 'unreadable'; changed: readonly string[] };

/**
 * Opens the secrets that a write keeps, and checks that the write leaves their destination
 * unchanged.
 *
 * @returns the kept secrets by field, the values of all secrets that are marked themselves, and the
 *   fields that refer to a secret of the organization whose destination the write changes: the list
 *   of that secret decides
 * @throws ApiError 422 `secret_reentry_required`, `secret_destination_mismatch` or
 *   `secret_unreadable`, naming the fields
 */
export function checkKept(
  { type, settings, typed, kept }: KeptWrite,
  vault: OrganizationVault,
): { kept: Map<string, KeptSecret>; marked: Map<string, SecretValue>; moved: Map<string, OrganizationSecret> } {
  const opened = new Map<ConnectorSecrets, OpenedSecrets>();
  const open = (from: ConnectorSecrets): OpenedSecrets => {
    const known = opened.get(from) ?? openSecrets(type, from.connector.settings, from.secrets, vault);
    opened.set(from, known);
    return known;
  };
  const isMarked = (field: string): boolean => isMarkedSecret(type, field);
  const marked = new Map([...typed].filter(([field]) => isMarked(field)));
  // A marked secret, such as a connection string, is an address too. Entering it requires entering
  // the other secrets again, even if its value is unchanged.
  const hasNewAddress = marked.size > 0;
  const found = new Map<string, KeptSecret>();
  const moved = new Map<string, OrganizationSecret>();
  const failures = new Map<string, Failure>();

  function check(field: string, { secret, from }: Kept, after: Destination, before: Destination): void {
    const opening = open(from).openings.get(secret.field);
    const move = (): void => {
      if (secret.shared) moved.set(field, secret.shared);
      else failures.set(field, { reason: 'moved', changed: [] });
    };
    const isOther = secret.field !== field || from.connector.type !== type.type_id || from.connector.kind !== type.kind;
    if (isOther || hasNewAddress || !opening) return move();
    const isSame = before.text() === after.text();
    if (!opening.error && isSame) return void found.set(field, opening);
    // The settings may have been changed in the database directly, and this write may restore them.
    const repaired = openSecret(secret, after, vault);
    if (!repaired.error && repaired.isCurrent) return void found.set(field, repaired);
    if (opening.error instanceof SealError) failures.set(field, { reason: 'unreadable', changed: [] });
    else if (isSame && opening.error) failures.set(field, { reason: 'mismatch', changed: opening.error.changed });
    else move();
  }

  const ofSettings = createDestination(type, settings);
  for (const [field, each] of kept) {
    if (!isMarked(field)) continue;
    check(field, each, ofSettings, createDestination(type, each.from.connector.settings));
    const value = found.get(field)?.value;
    if (value !== undefined) marked.set(field, value);
  }
  const ofAll = createDestination(type, settings, marked);
  for (const [field, each] of kept)
    if (!isMarked(field))
      check(field, each, ofAll, createDestination(type, each.from.connector.settings, open(each.from).marked));

  if (failures.size > 0) throw toHttpError(failures);
  return { kept: found, marked, moved };
}

const REFUSALS = {
  moved: [
    'secret_reentry_required',
    'The destination or the security of the connection changed: enter the secrets again.',
  ],
  mismatch: [
    'secret_destination_mismatch',
    'The secrets were saved for other settings than those stored. Check the settings, then enter the secrets again.',
  ],
  unreadable: [
    'secret_unreadable',
    'A stored secret was modified outside of the service and cannot be read. Enter it again.',
  ],
} as const;

/** Creates the error for secrets that can't be kept because the write changes their destination. */
export const reentryRequired = (fields: readonly string[]): ApiError =>
  toHttpError(new Map(fields.map((field) => [field, { reason: 'moved', changed: [] }])));

function toHttpError(failures: ReadonlyMap<string, Failure>): ApiError {
  const all = [...failures.values()];
  const reason = (['moved', 'mismatch', 'unreadable'] as const).find((each) => all.some((one) => one.reason === each));
  const [type, message] = REFUSALS[reason ?? 'moved'];
  const issues = [...failures.keys()].map((field): Issue => ({ path: `/secrets/${field}`, code: 'required' }));
  const changed = [...new Set(all.flatMap((failure) => failure.changed))];
  const details = { issues, ...(reason === 'mismatch' && changed.length > 0 ? { changed } : {}) };
  return new ApiError(422, type, message, { details });
}
