import { createHash } from 'node:crypto';
import type { Catalog } from '@connector-frame/catalog';
import type { Connectors } from '@connector-frame/connectors';
import type { RequestReceiver } from '@connector-frame/engine/connector-api';
import type { Egress } from '@connector-frame/engine/egress';
import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import { runtimeConfig } from '../connectors/runtime-config.js';
import { describeError } from '../describe-error.js';
import { openSecrets } from '../secrets/open-secrets.js';
import type { OrganizationVault, SecretValue, Vault } from '../secrets/vault.js';
import type { ConnectorSecrets, Store } from '../store/store.js';
import { HttpError } from './http-error.js';
import { createKnownConnectors } from './known-connectors.js';
import type { IngestTokens } from './tokens.js';

export interface ConfiguredOptions {
  store: Store;
  vault: Vault;
  tokens: IngestTokens;
  catalog: Catalog;
  connectors: Connectors;
  egress: Egress;
  clock: Clock;
  /** Milliseconds for which records for a connector are accepted while the database is away. */
  lifetimeMs: number;
  log: Logger;
}

/** A connector with the receiver that its configuration makes. */
export interface ConfiguredReceiver {
  connectorId: string;
  organizationId: string;
  /** Absent: its configuration makes none, for example because a secret can't be opened. */
  receiver: RequestReceiver | undefined;
}

interface Kept extends ConfiguredReceiver {
  fingerprint: string;
}

/** Receivers that are kept with their state, such as signatures that were used. */
const MAX_RECEIVERS = 10_000;

/**
 * Returns the connector at an address and its receiver, which is the same until the configuration
 * changes.
 * @param address last part of the connector's URL: `<id>.<tag>`
 * @throws HttpError 404 if there is none
 */
export type FindReceiver = (address: string) => Promise<ConfiguredReceiver>;

export function createFindReceiver(options: ConfiguredOptions): FindReceiver {
  const { store, vault, tokens, clock, lifetimeMs } = options;
  const kept = new Map<string, Kept>();

  async function load(id: string): Promise<ConfiguredReceiver | undefined> {
    const row = await store.connectors.ofToken(id);
    const found = row && (await store.connectors.withSecrets(row.organizationId, id));
    if (!found) {
      kept.delete(id);
      return undefined;
    }
    const fingerprint = fingerprintOf(found);
    const known = kept.get(id);
    if (known?.fingerprint === fingerprint) return known;
    const opening = await vault.ofOrganization(store, found.connector.organizationId);
    const receiver = createOne(found, opening, options);
    kept.delete(id);
    const created = { connectorId: id, organizationId: found.connector.organizationId, receiver, fingerprint };
    kept.set(id, created);
    const [oldest] = kept.keys();
    if (kept.size > MAX_RECEIVERS && oldest !== undefined) kept.delete(oldest);
    return created;
  }

  const known = createKnownConnectors({ load, clock, lifetimeMs });
  return async (address) => {
    const id = tokens.idAt(address);
    const found = id === undefined ? undefined : await known.get(id);
    if (!found) throw new HttpError(404, 'not_found', 'Not found. No connector has this address.');
    return found;
  };
}

function createOne(
  { connector, secrets }: ConnectorSecrets,
  vault: OrganizationVault,
  { catalog, connectors, egress, clock, tokens, log }: ConfiguredOptions,
): RequestReceiver | undefined {
  const type = catalog.get(connector.kind, connector.type);
  const create = type && connectors(type).createReceiver;
  if (!create) return undefined;
  try {
    const { openings } = openSecrets(type, connector.settings, secrets, vault);
    const values: Record<string, SecretValue> = {};
    for (const [field, opening] of openings) {
      if (opening.error) throw opening.error;
      values[field] = opening.value;
    }
    const isToken = (text: string): boolean => tokens.isOf(connector.id, text);
    return create(runtimeConfig(type, connector.settings, values), { type, egress, clock, isToken });
  } catch (error) {
    log.warn({ connector_id: connector.id, problem: describeError(error) }, 'receiver not created');
    return undefined;
  }
}

const fingerprintOf = ({ connector, secrets }: ConnectorSecrets): string =>
  createHash('sha256')
    .update(JSON.stringify([connector.type, connector.settings]))
    .update(
      secrets
        .map(({ field, sealed, shared }) => `${field} ${hex(sealed)} ${shared ? hex(shared.sealed) : ''}`)
        .join('\n'),
    )
    .digest('base64');

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
