import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { Store, Tables, WrappedKey } from '../store/store.js';
import { seal, unseal } from './cipher.js';
import type { MasterKey } from './master-key.js';

/** Where a secret stands. It opens nowhere else. */
export interface SecretPlace {
  connectorId: string;
  field: string;
}

/** A secret's value: a text, or a map of texts. */
export type SecretValue = string | Record<string, string>;

/** Seals and opens the secrets of one organization, with that organization's data key. */
export interface OrganizationVault {
  readonly keyId: string;
  seal(place: SecretPlace, value: SecretValue): Buffer;
  /** @throws SealError */
  open(place: SecretPlace, sealed: Uint8Array): SecretValue;
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
    return unseal(wrapping, context(row), row.wrapped);
  });
  const digestKey = (purpose: string) => createSecretKey(createHmac('sha256', own).update(purpose).digest());
  const digestKeys = {
    'api-key': digestKey('api-key'),
    request: digestKey('request'),
    destination: digestKey('destination'),
    ingest: digestKey('ingest'),
  };

  const opened = new Map<string, OrganizationVault>();
  return {
    issueKey: (organizationId) => wrap(randomUUID(), organizationId, keys.current, randomBytes(32), clock),

    async ofOrganization(tables, organizationId) {
      const known = opened.get(organizationId);
      if (known) return known;
      const row = await tables.dataKeys.ofOrganization(organizationId);
      if (!row) throw new Error(`Organization ${organizationId} has no data key.`);
      const vault = organizationVault(row, unseal(wrapping, context(row), row.wrapped));
      if (opened.size >= MAX_CACHED_KEYS) opened.clear();
      opened.set(organizationId, vault);
      return vault;
    },

    digest: (purpose, text) => createHmac('sha256', digestKeys[purpose]).update(text).digest(),

    async check(tables) {
      const row = await tables.dataKeys.get(SERVICE_KEY);
      return row?.masterKeyId === keys.current.id;
    },
  };
}

function organizationVault(row: WrappedKey, key: Buffer): OrganizationVault {
  const at = ({ connectorId, field }: SecretPlace) => ['secret', row.organizationId ?? '', connectorId, field, row.id];
  return {
    keyId: row.id,
    seal: (place, value) => seal(key, at(place), Buffer.from(JSON.stringify(value))),
    open(place, sealed) {
      const value: SecretValue = JSON.parse(unseal(key, at(place), sealed).toString());
      return value;
    },
  };
}

async function rewrap(tables: Tables, previous: MasterKey, current: MasterKey): Promise<void> {
  const [from, to] = [previous.derive('data keys'), current.derive('data keys')];
  for (const row of await tables.dataKeys.wrappedBy(previous.id)) {
    const key = unseal(from, context(row), row.wrapped);
    await tables.dataKeys.rewrap(row.id, current.id, seal(to, context(row), key));
  }
}

function wrap(id: string, organizationId: string | null, master: MasterKey, key: Buffer, clock: Clock): WrappedKey {
  const row = { id, organizationId, masterKeyId: master.id, createdAt: new Date(clock.now()) };
  return { ...row, wrapped: seal(master.derive('data keys'), context(row), key) };
}

const context = (row: Pick<WrappedKey, 'id' | 'organizationId'>): string[] => [
  'data key',
  row.organizationId ?? '',
  row.id,
];
