/**
 * Secrets that several connectors use. The value is sealed once, together with the destinations that
 * it may be sent to. Each connector that uses it seals the id of the secret, bound to that
 * connector's own destination: so neither a changed address nor a changed list opens it elsewhere.
 */
import type { OrganizationSecret, StoredSecret } from '../store/store.js';
import type { ListedDestination } from '../store/tables.js';
import { SealError } from './cipher.js';
import type { Destination } from './destination.js';
import { DestinationError, type OrganizationVault, type SecretPlace, type SecretValue } from './vault.js';

/** The columns of a secret of the organization that its sealed value authenticates. */
type Sealable = Pick<OrganizationSecret, 'id' | 'destinations' | 'restricted'>;

const placeOf = ({ id }: Pick<OrganizationSecret, 'id'>): SecretPlace => ({ connectorId: 'organization', field: id });

/** No field has such a name, so a reference can't be opened as a value, nor a value as a reference. */
const referenceAt = ({ connectorId, field }: SecretPlace): SecretPlace => ({
  connectorId,
  field: `reference ${field}`,
});

/** Seals the value of a secret of the organization with its list of destinations. */
export const sealShared = (secret: Sealable, value: SecretValue, vault: OrganizationVault): Buffer =>
  vault.seal(placeOf(secret), value, listOf(secret));

/**
 * Opens a secret of the organization, or one that its parent shares with it.
 * @throws SealError when the value or the list of destinations was changed outside of the service
 */
export function openShared(secret: OrganizationSecret, vault: OrganizationVault): SecretValue {
  try {
    const sealed = { ...placeOf(secret), sealed: secret.sealed, destination: null };
    return vault.of(secret.organizationId).open(sealed, listOf(secret)).value;
  } catch (error) {
    throw error instanceof DestinationError ? new SealError() : error;
  }
}

/** Seals a connector's reference to a secret that it shares with others. */
export const sealReference = (
  place: SecretPlace,
  secretId: string,
  destination: Destination,
  vault: OrganizationVault,
): Buffer => vault.seal(referenceAt(place), secretId, destination);

/**
 * Opens the secret that a connector's row refers to.
 * @throws DestinationError when the reference was sealed for another destination
 * @throws SealError when a row was changed outside of the service
 */
export function openReference(
  { shared, sealed, ...place }: StoredSecret,
  destination: Destination,
  vault: OrganizationVault,
): { value: SecretValue; isCurrent: boolean } {
  const { value: id, isCurrent } = vault.open({ ...referenceAt(place), sealed, destination: null }, destination);
  if (!shared || shared.id !== id) throw new SealError();
  return { value: openShared(shared, vault), isCurrent };
}

/** Returns a secret with one more destination, sealed again. */
export function withDestination(
  secret: OrganizationSecret,
  destination: ListedDestination,
  vault: OrganizationVault,
  now: Date,
): OrganizationSecret {
  const value = openShared(secret, vault);
  const after = { ...secret, destinations: [...secret.destinations, destination] };
  return { ...after, sealed: sealShared(after, value, vault), version: secret.version + 1, updatedAt: now };
}

const POINTERS = ['destinations'];

/** The list of destinations in the form that the sealed value authenticates. */
function listOf({ destinations, restricted }: Sealable): Destination {
  const text = JSON.stringify([restricted, destinations.map(identityOf)]);
  return {
    pointers: POINTERS,
    values: (pointers) => new Map(POINTERS.filter((each) => pointers.includes(each)).map((each) => [each, text])),
    text: () => text,
    format1Text: () => text,
  };
}

const identityOf = ({ kind, type, text, secrets }: ListedDestination): unknown[] => [kind, type, text, secrets ?? null];

/** Returns whether two entries of a list are the same destination. */
export const isSameDestination = (a: ListedDestination, b: ListedDestination): boolean =>
  JSON.stringify(identityOf(a)) === JSON.stringify(identityOf(b));

/** Returns whether a secret may be sent to a destination. */
export const mayBeSentTo = (
  { destinations }: Pick<OrganizationSecret, 'destinations'>,
  destination: ListedDestination,
): boolean => destinations.some((listed) => isSameDestination(listed, destination));
