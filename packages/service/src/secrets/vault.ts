import { createHmac, createSecretKey, randomBytes, randomUUID, type KeyObject } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { ReadTables, StoredSecret, Store, Tables, WrappedKey } from '../store/store.js';
import { bindingOf, readBinding, type Binding } from './binding.js';
import { labelOf, seal, SealError, unseal } from './cipher.js';
import type { Destination } from './destination.js';
import type { MasterKey } from './master-key.js';

/** Where a secret is stored. It can't be opened anywhere else. */
export interface SecretPlace {
  connectorId: string;
  field: string;
}

/** A secret's value: a string, or a map of strings. */
export type SecretValue = string | Record<string, string>;

/** The columns of a stored secret that the vault reads. */
export type SealedSecret = Pick<StoredSecret, 'connectorId' | 'field' | 'sealed' | 'destination'>;

/** Seals and opens the secrets of one organization, with that organization's data key. */
export interface OrganizationVault {
  readonly organizationId: string;
  readonly keyId: string;
  /**
   * Returns the vault of this organization, or that of its parent, which can share secrets with it.
   * @throws SealError for any other organization
   */
  of(organizationId: string): OrganizationVault;
  /** Seals a value and binds it to its place and its destination. */
  seal(place: SecretPlace, value: SecretValue, destination: Destination): Buffer;
  /**
   * Opens a secret for a destination.
   *
   * @returns the value, and whether it is bound to all that is marked now; otherwise the caller
   *   should reseal it
   * @throws DestinationError when it was sealed for another destination
   * @throws SealError when it was changed or moved, or is in format 1 after all of the
   *   organization's secrets left that format
   */
  open(secret: SealedSecret, destination: Destination): { value: SecretValue; isCurrent: boolean };
  /**
   * Moves a secret from format 1 to format 2 with its binding unchanged: it stays bound to the
   * destination that its row names, which may no longer be that of its connector.
   * @throws SealError
   */
  migrateFormat1(secret: SealedSecret): Buffer;
  /** Returns a keyed digest of a text that must be recognized but not stored. */
  digest(text: string): string;
}

/** A secret was sealed for another destination or transport than its connector has now. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError';
  /** Pointers of the values that differ, such as `/settings/endpoint`. Empty if they are unknown. */
  readonly changed: readonly string[];

  constructor(changed: readonly string[]) {
    super('A secret was sealed for another destination than its connector has now.');
    this.changed = changed;
  }
}

/** Purpose of a digest. Digests of different purposes can't be compared. */
export type DigestPurpose = (typeof DIGEST_PURPOSES)[number];
const DIGEST_PURPOSES = [
  'api-key',
  'request',
  'destination',
  'ingest',
  'ingest-address',
  'ticket',
  'recovery-code',
  'account',
  'consent',
  'aws-external-id',
] as const;

/** Seals, opens and digests what the service keeps secret. No method returns an unwrapped key. */
export interface Vault {
  /** Creates the data key of a new organization, to be stored in the same transaction. */
  issueKey(organizationId: string): WrappedKey;
  /** @param tables inside a transaction, the tables of that transaction */
  ofOrganization(tables: ReadTables, organizationId: string): Promise<OrganizationVault>;
  /**
   * Returns the HMAC-SHA-256 of a text that must be recognized but not stored. It does not depend
   * on the master key.
   */
  digest(purpose: DigestPurpose, text: string): Buffer;
  /**
   * Seals a text that belongs to no organization, such as the second factor of a user.
   * @param place authenticated but not stored: it opens only with the same one
   */
  sealOwn(place: readonly string[], text: string): Buffer;
  /** @throws SealError when it was changed or moved */
  openOwn(place: readonly string[], sealed: Uint8Array): string;
  /** Returns whether the master key still opens the service's own key in the database. */
  check(tables: Tables): Promise<boolean>;
  /**
   * Refuses format 1 from now on for every data key whose secrets have all left it.
   * @returns how many data keys still accept it
   */
  rejectFormat1(tables: Tables): Promise<number>;
}

/** The master key does not match the database. The message names the id of the required key. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError';
}

/** Id of the service's own data key, from which the HMAC keys are derived. */
const SERVICE_KEY = 'service';
const MAX_CACHED_KEYS = 10_000;

/**
 * Compares the master key with the database before anything is written.
 * @param place what the secrets are in, for the error
 * @throws MasterKeyError when the database requires another key
 */
export function checkMasterKey(requiredIds: readonly string[], keys: MasterKeys, place = 'this database'): void {
  const known = [keys.current?.id, keys.previous?.id];
  const missing = requiredIds.filter((id) => !known.includes(id));
  if (missing.length > 0) {
    const given = keys.current ? `MASTER_KEY is key ${keys.current.id}` : 'MASTER_KEY is not set';
    throw new MasterKeyError(
      `The secrets in ${place} require master key ${missing.join(' and ')}; ${given}. Set MASTER_KEY to the key with that id. To rotate keys, set MASTER_KEY_PREVIOUS to it.`,
    );
  }
}

export interface MasterKeys {
  current?: MasterKey;
  /** At startup, the data keys that it wraps are rewrapped by `current`. */
  previous?: MasterKey;
}

/**
 * Opens the vault on an up-to-date schema. Creates the service's key in a new database, and rewraps
 * keys from `previous` to `current`.
 */
export async function openVault(store: Store, keys: MasterKeys & { current: MasterKey }, clock: Clock): Promise<Vault> {
  checkMasterKey(await store.dataKeys.masterKeyIds(), keys);
  const wrapping = keys.current.derive('data keys');
  const own = await store.exclusive('master key', async (tables) => {
    if (keys.previous) await rewrap(tables, keys.previous, keys.current);
    await tables.dataKeys.insert(wrap(SERVICE_KEY, null, keys.current, randomBytes(32), clock));
    const row = await tables.dataKeys.get(SERVICE_KEY);
    if (!row) throw new MasterKeyError('The service key is missing from the database.');
    checkMasterKey([row.masterKeyId], keys);
    return unwrap(wrapping, row).key;
  });
  const digestKey = (purpose: string) => createSecretKey(createHmac('sha256', own).update(purpose).digest());
  const digestKeys = new Map(DIGEST_PURPOSES.map((purpose) => [purpose, digestKey(purpose)]));
  const ownKey = createHmac('sha256', own).update('own').digest();

  const digest: Vault['digest'] = (purpose, text) =>
    createHmac('sha256', digestKeys.get(purpose) ?? digestKey(purpose))
      .update(text)
      .digest();
  const destinationDigest = (destination: Destination): string =>
    digest('destination', destination.format1Text()).toString('base64url');

  const opened = new Map<string, OrganizationVault>();
  const vaults: Vault = {
    issueKey: (organizationId) => wrap(randomUUID(), organizationId, keys.current, randomBytes(32), clock),

    async ofOrganization(tables, organizationId) {
      const known = opened.get(organizationId);
      if (known) return known;
      const row = await tables.dataKeys.ofOrganization(organizationId);
      if (!row) throw new Error(`Organization ${organizationId} has no data key.`);
      const organization = await tables.organizations.get(organizationId);
      const parentId = organization?.parentId ?? null;
      const parent = parentId === null ? undefined : await vaults.ofOrganization(tables, parentId);
      const { key, acceptsFormat1 } = unwrap(wrapping, row);
      const vault = organizationVault({ ...row, organizationId }, key, acceptsFormat1, destinationDigest, parent);
      // Not cached: another replica may end format 1 at any time, and that must take effect
      // immediately.
      if (acceptsFormat1 || (parent && !opened.has(parent.organizationId))) return vault;
      if (opened.size >= MAX_CACHED_KEYS) opened.clear();
      opened.set(organizationId, vault);
      return vault;
    },

    digest,
    sealOwn: (place, text) => seal(ownKey, ['own', ...place], Buffer.from(text)),
    openOwn: (place, sealed) => unseal(ownKey, ['own', ...place], sealed).toString(),

    async check(tables) {
      const row = await tables.dataKeys.get(SERVICE_KEY);
      return row?.masterKeyId === keys.current.id;
    },

    async rejectFormat1(tables) {
      let left = 0;
      for (const row of await tables.dataKeys.inFormat1()) {
        const key = keyOf(wrapping, row);
        if (!key || !(await tables.dataKeys.migrateFormat1(row, wrapKey(wrapping, row, key, false)))) left += 1;
      }
      return left;
    },
  };
  return vaults;
}

/**
 * Returns `undefined` for a row that was changed. Its organization gets the error when it needs the
 * key.
 */
function keyOf(wrapping: Buffer, row: WrappedKey): Buffer | undefined {
  try {
    return unwrap(wrapping, row).key;
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

function organizationVault(
  { id: keyId, organizationId }: WrappedKey & { organizationId: string },
  key: Buffer,
  acceptsFormat1: boolean,
  format1Digest: (destination: Destination) => string,
  parent: OrganizationVault | undefined,
): OrganizationVault {
  const at = ({ connectorId, field }: SecretPlace) => ['secret', organizationId, connectorId, field, keyId];
  const bindingKey: KeyObject = createSecretKey(createHmac('sha256', key).update('binding').digest());

  const valuesOf = (destination: Destination, pointers: readonly string[]): ReadonlyMap<string, string> => {
    const values = new Map(destination.values(pointers));
    if (pointers.includes(FORMAT_1)) values.set(FORMAT_1, format1Digest(destination));
    return values;
  };

  function openFormat1(secret: SealedSecret): Buffer {
    if (!acceptsFormat1) throw new SealError();
    return unseal(key, at(secret), secret.sealed);
  }

  const vault: OrganizationVault = {
    organizationId,
    keyId,

    of(id) {
      const found = id === organizationId ? vault : parent;
      if (found?.organizationId !== id) throw new SealError();
      return found;
    },

    seal(place, value, destination) {
      const binding = bindingOf(bindingKey, place, destination.values(destination.pointers));
      return seal(key, at(place), Buffer.from(JSON.stringify(value)), JSON.stringify(binding));
    },

    open(secret, destination) {
      const { format, header } = labelOf(secret.sealed);
      if (format === 1) {
        const plain = openFormat1(secret);
        if (secret.destination !== format1Digest(destination)) throw new DestinationError([]);
        return { value: parse(plain), isCurrent: false };
      }
      const stored = readBinding(header);
      const pointers = stored.map(([pointer]) => pointer);
      const now = new Map(bindingOf(bindingKey, secret, valuesOf(destination, pointers)));
      // A pointer that this release no longer knows has no effect: keep its stored digest.
      const current: Binding = stored.map(([pointer, digest]) => [pointer, now.get(pointer) ?? digest]);
      try {
        const plain = unseal(key, at(secret), secret.sealed, JSON.stringify(current));
        return { value: parse(plain), isCurrent: isSame(pointers, destination.pointers) };
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        // Throws if the text or its place was changed, because then its destination is unknown.
        unseal(key, at(secret), secret.sealed);
        const changed = stored.flatMap(([pointer, digest], index) => (current[index]?.[1] === digest ? [] : [pointer]));
        throw new DestinationError(changed.filter((pointer) => pointer !== FORMAT_1));
      }
    },

    migrateFormat1(secret) {
      const plain = openFormat1(secret);
      const binding = bindingOf(bindingKey, secret, new Map([[FORMAT_1, secret.destination ?? '']]));
      return seal(key, at(secret), plain, JSON.stringify(binding));
    },

    digest: (text) => createHmac('sha256', bindingKey).update(`text ${text}`).digest('base64url'),
  };
  return vault;
}

/**
 * Pointer of the destination digest from a format 1 row, for a secret that was moved to format 2
 * without its destination being checked.
 */
const FORMAT_1 = 'format 1';

const parse = (plain: Buffer): SecretValue => JSON.parse(plain.toString());

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);

async function rewrap(tables: Tables, previous: MasterKey, current: MasterKey): Promise<void> {
  const [from, to] = [previous.derive('data keys'), current.derive('data keys')];
  for (const row of await tables.dataKeys.wrappedBy(previous.id)) {
    const { key, acceptsFormat1 } = unwrap(from, row);
    await tables.dataKeys.rewrap(row.id, current.id, wrapKey(to, row, key, acceptsFormat1));
  }
}

function wrap(id: string, organizationId: string | null, master: MasterKey, key: Buffer, clock: Clock): WrappedKey {
  const row = { id, organizationId, masterKeyId: master.id, createdAt: new Date(clock.now()) };
  return { ...row, wrapped: wrapKey(master.derive('data keys'), row, key, false) };
}

/** Header of a wrapped data key under which secrets in format 1 may still be stored. */
const ACCEPTS_FORMAT_1 = 'format 1';

type KeyPlace = Pick<WrappedKey, 'id' | 'organizationId'>;

const context = (row: KeyPlace): string[] => ['data key', row.organizationId ?? '', row.id];

const wrapKey = (wrapping: Buffer, row: KeyPlace, key: Buffer, acceptsFormat1: boolean): Buffer =>
  seal(wrapping, context(row), key, acceptsFormat1 ? ACCEPTS_FORMAT_1 : '');

function unwrap(wrapping: Buffer, row: WrappedKey): { key: Buffer; acceptsFormat1: boolean } {
  const key = unseal(wrapping, context(row), row.wrapped);
  const { format, header } = labelOf(row.wrapped);
  return { key, acceptsFormat1: format === 1 || header === ACCEPTS_FORMAT_1 };
}
