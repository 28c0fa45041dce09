import type { ConnectorTypeData, Issue } from '@connector-frame/catalog/types';
import { validateConfig } from '@connector-frame/catalog/validate';
import { ApiError } from '../api-error.js';
import { SealError } from '../secrets/cipher.js';
import { isMarkedSecret } from '../secrets/destination.js';
import { listedDestination } from '../secrets/listed-destination.js';
import { mayBeSentTo, openShared } from '../secrets/references.js';
import type { OrganizationVault, SecretValue } from '../secrets/vault.js';
import type { OrganizationSecret } from '../store/store.js';
import type { ListedDestination } from '../store/tables.js';
import { reentryRequired } from './reused-secrets.js';

/** A field of a write that refers to a secret of the organization. */
export interface Reference {
  shared: OrganizationSecret;
  /** Whether the write names the secret. If not, the field keeps its reference. */
  isNamed: boolean;
}

/** A reference that passed the checks. */
export interface CheckedReference {
  shared: OrganizationSecret;
  value: SecretValue;
  destination: ListedDestination;
  /** Whether storing it adds the destination to the list of the secret. */
  adds: boolean;
}

interface ReferringWrite {
  type: ConnectorTypeData;
  /** Settings with their defaults, without those that are hidden. */
  settings: Record<string, unknown>;
  /** Values of the secrets that are addresses themselves, by field. */
  marked: ReadonlyMap<string, SecretValue>;
  references: ReadonlyMap<string, Reference>;
  /** Whether the caller may add destinations to secrets that are not restricted. */
  mayAdd: boolean;
}

/**
 * Opens the secrets of the organization that a write refers to. A secret is only sent to the
 * destinations on its list: naming it must not let a caller who doesn't know the value send it
 * elsewhere.
 * @throws ApiError 400 `secret_not_allowed`, 422 `secret_reentry_required` or `secret_unreadable`
 */
export function checkReferences(
  { type, settings, marked, references, mayAdd }: ReferringWrite,
  vault: OrganizationVault,
): Map<string, CheckedReference> {
  if (references.size === 0) return new Map();
  const allowed = [...references].map(([field, { shared, isNamed }]) => {
    const destination = listedDestination(type, settings, marked, vault.of(shared.organizationId));
    const isListed = mayBeSentTo(shared, destination);
    // Only its owner decides where a secret of another organization is sent.
    const isOwn = shared.organizationId === vault.organizationId;
    const adds = !isListed && isNamed && mayAdd && isOwn && !shared.restricted;
    // Its value would be an address that changes with each rotation, for all other secrets.
    const isAddress = isMarkedSecret(type, field);
    return { field, shared, isNamed, adds, destination, isAllowed: (isListed || adds) && !isAddress };
  });
  const refused = allowed.filter(({ isAllowed }) => !isAllowed);
  const named = refused.filter(({ isNamed }) => isNamed);
  if (named.length > 0) throw notAllowed(named.map(({ field }) => field));
  if (refused.length > 0) throw reentryRequired(refused.map(({ field }) => field));
  return new Map(
    allowed.map(({ field, shared, adds, destination }) => [
      field,
      { shared, adds, destination, value: open(field, shared, vault) },
    ]),
  );
}

/**
 * Returns the issues of a secret's value in a field. Call it only for callers who may use the
 * secret there: the codes tell something about the value.
 */
export const issuesOfValue = (
  type: ConnectorTypeData,
  settings: Record<string, unknown>,
  field: string,
  value: SecretValue,
): Issue[] =>
  validateConfig(type.config, { settings, secrets: { [field]: value } }).filter(
    ({ path }) => path === `/secrets/${field}` || path.startsWith(`/secrets/${field}/`),
  );

function open(field: string, shared: OrganizationSecret, vault: OrganizationVault): SecretValue {
  try {
    return openShared(shared, vault);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    const message = 'A stored secret was modified outside of the service and cannot be read. Enter it again.';
    throw new ApiError(422, 'secret_unreadable', message, {
      details: { issues: [{ path: `/secrets/${field}`, code: 'required' }] },
    });
  }
}

/** Creates the error for a reference to a secret at a destination that is not on its list. */
export const notAllowed = (fields: readonly string[]): ApiError =>
  new ApiError(
    400,
    'secret_not_allowed',
    'A secret may not be sent to this destination. Add the destination to the secret, or use another one.',
    { details: { fields: fields.map((field) => `/secrets/${field}`) } },
  );
