import type { Catalog } from '@connector-frame/catalog';
import {
  ConnectorError,
  type Exchanged,
  type ReplaceableSecret,
  type ReplaceableSecrets,
} from '@connector-frame/engine/connector-api';
import type { Locks } from '../store/locks.js';
import type { Connector, StoredSecret, Tables } from '../store/store.js';
import { createDestination, isMarkedSecret, type Destination } from './destination.js';
import { openSecrets } from './open-secrets.js';
import { sealShared } from './references.js';
import { DestinationError, type OrganizationVault } from './vault.js';

export interface SecretExchangesOptions {
  tables: Pick<Tables, 'connectors' | 'secrets' | 'organizationSecrets'>;
  locks: Locks;
  vaultOf: (organizationId: string) => Promise<OrganizationVault>;
  catalog: Catalog;
}

/** A user of the secrets of a connector. */
export interface SecretUser {
  /** Returns the settings to open the secrets for. Default: the stored ones. */
  settingsOf?: (stored: Connector['settings']) => Connector['settings'];
  /**
   * Results of exchanges are reused among users with the same key; null: never. Default: the id of the
   * connector. Other settings need another key.
   */
  key?: string | null;
  /** Fields whose stored value is used. Default: all. */
  fields?: ReadonlySet<string>;
}

/** Replaces stored secrets with what vendors exchange them for. */
export interface SecretExchanges {
  of(connector: Pick<Connector, 'id' | 'organizationId'>, user?: SecretUser): ReplaceableSecrets;
}

interface Opened {
  secret: StoredSecret;
  value: string;
  destination: Destination;
  vault: OrganizationVault;
}

/** A replacement that could not be stored yet. */
interface Pending {
  before: string;
  value: string;
}

const ATTEMPTS = 3;
const MAX_RESULTS = 10_000;

/** @returns the exchanges of one process; the results and pending replacements are in its memory */
export function createSecretExchanges(options: SecretExchangesOptions): SecretExchanges {
  const results = new Map<string, unknown>();
  const pending = new Map<string, Pending>();

  function replaceable(
    connector: Pick<Connector, 'id' | 'organizationId'>,
    field: string,
    { settingsOf = (stored) => stored, key = connector.id }: SecretUser,
  ): ReplaceableSecret {
    const open = (): Promise<Opened> => withStorage(() => openStored(connector, field, settingsOf, options));

    /** A value that was saved since then is kept: a person knows better. */
    async function store({ before, value }: Pending): Promise<void> {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const opened = await open();
        if (opened.value !== before) return;
        if (await withStorage(() => replace(opened, value, options))) return;
      }
      throw storageFailed();
    }

    async function storePending(id: string): Promise<void> {
      const replacement = pending.get(id);
      if (!replacement) return;
      await store(replacement);
      pending.delete(id);
    }

    return {
      async read() {
        const { secret, value } = await open();
        const replacement = pending.get(idOf(secret));
        return replacement?.before === value ? replacement.value : value;
      },

      async exchange<T>(
        run: (value: string) => Promise<Exchanged<T>>,
        reuse: (earlier: unknown) => T | undefined = () => undefined,
      ): Promise<T> {
        const id = idOf((await open()).secret);
        const place = key === null ? undefined : `${key} ${field}`;
        const outcome = await withStorage(() =>
          options.locks.run(`secret ${id}`, async () => {
            await storePending(id);
            const earlier = place === undefined ? undefined : reuse(results.get(place));
            if (earlier !== undefined) return () => earlier;
            const { value: before } = await open();
            const exchanged = await run(before).catch((error: unknown) => () => {
              throw error;
            });
            if (typeof exchanged === 'function') return exchanged;
            const { result, replacement } = exchanged;
            if (results.size >= MAX_RESULTS) results.clear();
            if (place !== undefined) results.set(place, result);
            if (replacement !== undefined && replacement !== before) {
              // Before the storage is tried: the vendor no longer accepts the old value.
              pending.set(id, { before, value: replacement });
              await storePending(id);
            }
            return () => result;
          }),
        );
        return outcome();
      },
    };
  }

  return {
    of: (connector, user = {}) => ({
      of: (field) => (user.fields?.has(field) === false ? undefined : replaceable(connector, field, user)),
    }),
  };
}

/** The id that all users of a secret know it by. */
const idOf = ({ id, secretId }: StoredSecret): string => secretId ?? id;

async function openStored(
  { id, organizationId }: Pick<Connector, 'id' | 'organizationId'>,
  field: string,
  settingsOf: NonNullable<SecretUser['settingsOf']>,
  { tables, vaultOf, catalog }: SecretExchangesOptions,
): Promise<Opened> {
  const found = await tables.connectors.withSecrets(organizationId, id);
  const type = found && catalog.get(found.connector.kind, found.connector.type);
  if (!type) throw unreadable(field);
  const settings = settingsOf(found.connector.settings);
  const vault = await vaultOf(organizationId);
  const { openings, marked } = openSecrets(type, settings, found.secrets, vault);
  const opening = openings.get(field);
  if (opening?.error instanceof DestinationError)
    throw new ConnectorError(
      'secret_destination_mismatch',
      `The settings are not the ones that the secret ${field} was saved for. Check them, then enter the secret again.`,
      'permanent',
    );
  if (!opening || opening.error || typeof opening.value !== 'string') throw unreadable(field);
  const destination = createDestination(type, settings, isMarkedSecret(type, field) ? undefined : marked);
  return { secret: opening.secret, value: opening.value, destination, vault };
}

/** Returns whether the value was stored; false if the row has changed. */
function replace(
  { secret, destination, vault }: Opened,
  value: string,
  { tables }: SecretExchangesOptions,
): Promise<boolean> {
  const { id, shared, sealed: before } = secret;
  // Without the lease of the engine, too: only this process has the new value.
  if (!shared) return tables.secrets.replaceValue({ id, before, sealed: vault.seal(secret, value, destination) });
  const sealed = sealShared(shared, value, vault.of(shared.organizationId));
  return tables.organizationSecrets.replaceValue({ id: shared.id, before: shared.sealed, sealed });
}

/** Errors of the storage may contain values. */
async function withStorage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ConnectorError ? error : storageFailed(error);
  }
}

const storageFailed = (cause?: unknown): ConnectorError =>
  new ConnectorError('storage_failed', "The stored secret can't be read or replaced right now.", 'retry', undefined, {
    cause,
  });

const unreadable = (field: string): ConnectorError =>
  new ConnectorError('secret_unreadable', `The secret ${field} can't be opened. Enter it again.`, 'permanent');
