import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import type { Reseal, StoredSecret } from '../store/store.js';
import { SealError } from './cipher.js';
import { createDestination, isMarkedSecret, type Destination } from './destination.js';
import { openReference, sealReference } from './references.js';
import { DestinationError, type OrganizationVault, type SecretValue } from './vault.js';

/** An opened secret, or the reason why it could not be opened. */
export type Opening =
  | { secret: StoredSecret; value: SecretValue; isCurrent: boolean; error?: undefined }
  | { secret: StoredSecret; error: DestinationError | SealError };

/** The secrets of one connector, opened for its stored settings. */
export interface OpenedSecrets {
  /** By field. Fields that the type no longer declares are omitted. */
  openings: ReadonlyMap<string, Opening>;
  /** Values of the marked secrets that could be opened. */
  marked: ReadonlyMap<string, SecretValue>;
  /**
   * Rows to write back: sealed by an earlier release, or not bound to exactly the fields that are
   * marked now.
   */
  reseals: readonly Reseal[];
}

/**
 * Opens the secrets of a connector. Does not throw for a secret that can't be opened; the others
 * are not affected.
 *
 * @param settings stored settings of the connector
 * @param rows stored secrets of the connector
 */
export function openSecrets(
  type: ConnectorTypeData,
  settings: Readonly<Record<string, unknown>>,
  rows: readonly StoredSecret[],
  vault: OrganizationVault,
): OpenedSecrets {
  const openings = new Map<string, Opening>();
  const reseals: Reseal[] = [];
  const openAll = (some: readonly StoredSecret[], destination: Destination): void => {
    for (const secret of some) {
      const opening = openSecret(secret, destination, vault);
      openings.set(secret.field, opening);
      if (!opening.error && !opening.isCurrent)
        reseals.push({
          id: secret.id,
          before: secret.sealed,
          sealed: sealAgain(secret, opening.value, destination, vault),
        });
    }
  };
  const declared = rows.filter(({ field }) => Object.hasOwn(type.config.secrets.properties, field));
  // A marked secret is an address or a CA and is bound to the settings alone. The others are also
  // bound to its value.
  const first = declared.filter(({ field }) => isMarkedSecret(type, field));
  openAll(first, createDestination(type, settings));
  const marked = new Map<string, SecretValue>();
  for (const [field, opening] of openings) if (!opening.error) marked.set(field, opening.value);
  const others = declared.filter((secret) => !first.includes(secret));
  if (others.length > 0) openAll(others, createDestination(type, settings, marked));
  return { openings, marked, reseals };
}

/** Opens one secret. Returns a `DestinationError` or `SealError`; throws any other error. */
export function openSecret(secret: StoredSecret, destination: Destination, vault: OrganizationVault): Opening {
  try {
    const isOwn = secret.secretId === null;
    return { secret, ...(isOwn ? vault.open(secret, destination) : openReference(secret, destination, vault)) };
  } catch (error) {
    if (error instanceof DestinationError || error instanceof SealError) return { secret, error };
    throw error;
  }
}

/** Seals an opened secret for what is marked now: its value, or its reference. */
export const sealAgain = (
  secret: StoredSecret,
  value: SecretValue,
  destination: Destination,
  vault: OrganizationVault,
): Buffer =>
  secret.secretId === null
    ? vault.seal(secret, value, destination)
    : sealReference(secret, secret.secretId, destination, vault);
