import { createHmac, createSecretKey, randomBytes, randomUUID, type KeyObject } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { StoredSecret, Store, Tables, WrappedKey } from '../store/store.js';
import { bindingOf, readBinding, type Binding } from './binding.js';
import { labelOf, seal, SealError, unseal } from './cipher.js';
import type { Destination } from './destination.js';
import type { MasterKey } from './master-key.js';

/** Where a secret is stored. It opens nowhere else. */
export interface SecretPlace {
  connectorId: string;
  field: string;
}

/** A secret's value: a text, or a map of texts. */
export type SecretValue = string | Record<string, string>;

/** What the vault reads of a stored secret. */
export type SealedSecret = Pick<StoredSecret, 'connectorId' | 'field' | 'sealed' | 'destination'>;

/** Seals and opens the secrets of one organization, with that organization's data key. */
export interface OrganizationVault {
  readonly keyId: string;
  /** Binds the value to its place and its destination. */
  seal(place: SecretPlace, value: SecretValue, destination: Destination): Buffer;
  /**
   * Opens a secret for a destination.
   *
   * @returns the value, and whether it is bound to all that is marked now; otherwise it is to be sealed again
   * @throws DestinationError when it was sealed for another destination
   * @throws SealError when it was changed or moved, or is in format 1 after all of the organization's secrets left it
   */
  open(secret: SealedSecret, destination: Destination): { value: SecretValue; isCurrent: boolean };
  /**
   * Moves a secret from format 1 to format 2 as it is: bound to the destination that its row names, which may not be that of
   * its connector any more.
   * @throws SealError
   */
  leaveFormat1(secret: SealedSecret): Buffer;
}

/** A secret was sealed for another destination or another transport than its connector has now. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError';

  /** @param changed pointers of what differs: `/settings/endpoint`; empty when that is not known */
  constructor(readonly changed: readonly string[]) {
    super('A secret was sealed for another destination than its connector has now.');
  }
}

/** All that the service knows how to keep secret. Nothing here answers a key. */
export interface Vault {
  /** A new data key for a new organization; to be stored in the same transaction. */
  issueKey(organizationId: string): WrappedKey;
  /** @param tables the transaction's own, inside one. */
  ofOrganization(tables: Tables, organizationId: string): Promise<OrganizationVault>;
  /** HMAC-SHA-256 for what must be recognized but not known. Survives a change of master key. */
  digest(purpose: 'api-key' | 'request' | 'destination' | 'ingest', text: string): Buffer;
  /** Whether the master key still opens the database's own key. */
  check(tables: Tables): Promise<boolean>;
  /**
   * Refuses format 1 from now on for every data key whose secrets have all left it.
   * @returns how many data keys still accept it
   */
  refuseFormat1(tables: Tables): Promise<number>;
}

/** The master key does not fit the database. The message says which key id is wanted. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError';
}

/** The service's own data key: HMAC keys derive from it. */
const SERVICE_KEY = 'service';
const MAX_CACHED_KEYS = 10_000;

/**
 * Compares the master key with the database before anything is written.
 * @throws MasterKeyError when the database wants another key.
 */
export function checkMasterKey(wanted: readonly string[], keys: MasterKeys): void {
  const known = [keys.current?.id, keys.previous?.id];
  const missing = wanted.filter((id) => !known.includes(id));
  if (missing.length > 0) {
    const given = keys.current ? `MASTER_KEY is key ${keys.current.id}` : 'MASTER_KEY is not set';
    throw new MasterKeyError(
      `The secrets in this database want master key ${missing.join(' and ')}; ${given}. Set MASTER_KEY to the key with that id, or, to change keys, MASTER_KEY_PREVIOUS to it.`,
    );
  }
}

export interface MasterKeys {
  current?: MasterKey;
  /** Its wrapped keys are wrapped again by `current` at the start. */
  previous?: MasterKey;
}

/** Opens the vault on an up-to-date schema; makes the service's key in a new database, and moves keys from `previous` to `current`. */
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
  const digestKeys = {
    'api-key': digestKey('api-key'),
    request: digestKey('request'),
    destination: digestKey('destination'),
    ingest: digestKey('ingest'),
  };

  const digest: Vault['digest'] = (purpose, text) => createHmac('sha256', digestKeys[purpose]).update(text).digest();
  const destinationDigest = (destination: Destination): string =>
    digest('destination', destination.format1Text()).toString('base64url');

  const opened = new Map<string, OrganizationVault>();
  return {
    issueKey: (organizationId) => wrap(randomUUID(), organizationId, keys.current, randomBytes(32), clock),

    async ofOrganization(tables, organizationId) {
      const known = opened.get(organizationId);
      if (known) return known;
      const row = await tables.dataKeys.ofOrganization(organizationId);
      if (!row) throw new Error(`Organization ${organizationId} has no data key.`);
      const { key, acceptsFormat1 } = unwrap(wrapping, row);
      const vault = organizationVault(row, key, acceptsFormat1, destinationDigest);
      // Another replica may end format 1 at any time, and must be believed at once.
      if (acceptsFormat1) return vault;
      if (opened.size >= MAX_CACHED_KEYS) opened.clear();
      opened.set(organizationId, vault);
      return vault;
    },

    digest,

    async check(tables) {
      const row = await tables.dataKeys.get(SERVICE_KEY);
      return row?.masterKeyId === keys.current.id;
    },

    async refuseFormat1(tables) {
      let left = 0;
      for (const row of await tables.dataKeys.inFormat1()) {
        const key = keyOf(wrapping, row);
        if (!key || !(await tables.dataKeys.leaveFormat1(row, wrapKey(wrapping, row, key, false)))) left += 1;
      }
      return left;
    },
  };
}

/** Undefined for a row that was changed: its organization finds out when it needs the key. */
function keyOf(wrapping: Buffer, row: WrappedKey): Buffer | undefined {
  try {
    return unwrap(wrapping, row).key;
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

function organizationVault(
  row: WrappedKey,
  key: Buffer,
  acceptsFormat1: boolean,
  format1Digest: (destination: Destination) => string,
): OrganizationVault {
  const at = ({ connectorId, field }: SecretPlace) => ['secret', row.organizationId ?? '', connectorId, field, row.id];
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

  return {
    keyId: row.id,

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
      // What this release does not know any more has no effect, whatever it was.
      const current: Binding = stored.map(([pointer, digest]) => [pointer, now.get(pointer) ?? digest]);
      try {
        const plain = unseal(key, at(secret), secret.sealed, JSON.stringify(current));
        return { value: parse(plain), isCurrent: isSame(pointers, destination.pointers) };
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        // Throws when the text or its place was changed: then nobody knows what it was sealed for.
        unseal(key, at(secret), secret.sealed);
        const changed = stored.flatMap(([pointer, digest], index) => (current[index]?.[1] === digest ? [] : [pointer]));
        throw new DestinationError(changed.filter((pointer) => pointer !== FORMAT_1));
      }
    },

    leaveFormat1(secret) {
      const plain = openFormat1(secret);
      const binding = bindingOf(bindingKey, secret, new Map([[FORMAT_1, secret.destination ?? '']]));
      return seal(key, at(secret), plain, JSON.stringify(binding));
    },
  };
}

/** Pointer of the destination's digest in a row of format 1, for a secret that left the format without being opened. */
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
