import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import type { Reseal, StoredSecret } from '../store/store.js';
import { SealError } from './cipher.js';
import { createDestination, isMarkedSecret, type Destination } from './destination.js';
import { DestinationError, type OrganizationVault, type SecretValue } from './vault.js';

/** A secret that was opened, or why it was not. */
export type Opening =
  | { secret: StoredSecret; value: SecretValue; isCurrent: boolean; error?: undefined }
  | { secret: StoredSecret; error: DestinationError | SealError };

/** The secrets of one connector, as its stored settings let them be opened. */
export interface OpenedSecrets {
  /** By field. A field that the type does not declare any more is left out. */
  openings: ReadonlyMap<string, Opening>;
  /** Values of the secrets that are marked themselves, as far as they opened. */
  marked: ReadonlyMap<string, SecretValue>;
  /** Rows to write back: sealed by an earlier release, or bound to less than is marked now. */
  reseals: readonly Reseal[];
}

/**
 * Opens the secrets of a connector. Never throws for one that does not open: the others are no worse for it.
 *
 * @param settings of the connector, as they are stored
 * @param rows its secrets
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
        reseals.push({ id: secret.id, before: secret.sealed, sealed: vault.seal(secret, opening.value, destination) });
    }
  };
  const declared = rows.filter(({ field }) => Object.hasOwn(type.config.secrets.properties, field));
  // A secret that is an address is sent nowhere else itself; the others are bound to what it says.
  const first = declared.filter(({ field }) => isMarkedSecret(type, field));
  openAll(first, createDestination(type, settings));
  const marked = new Map<string, SecretValue>();
  for (const [field, opening] of openings) if (!opening.error) marked.set(field, opening.value);
  const others = declared.filter((secret) => !first.includes(secret));
  if (others.length > 0) openAll(others, createDestination(type, settings, marked));
  return { openings, marked, reseals };
}

/** Opens one secret, and tells why not. Errors of other kinds are thrown. */
export function openSecret(secret: StoredSecret, destination: Destination, vault: OrganizationVault): Opening {
  try {
    return { secret, ...vault.open(secret, destination) };
  } catch (error) {
    if (error instanceof DestinationError || error instanceof SealError) return { secret, error };
    throw error;
  }
}
