import type { IncomingMessage } from 'node:http';
import type { Catalog } from '@connector-frame/catalog';
import type { Connectors } from '@connector-frame/connectors';
import type { Receiver } from '@connector-frame/engine/connector-api';
import type { Clock } from '../clock.js';
import type { Store } from '../store/store.js';
import { HttpError } from './http-error.js';
import { createKnownConnectors, type KnownConnector } from './known-connectors.js';
import type { IngestTokens } from './tokens.js';

export interface FindOptions {
  store: { connectors: Pick<Store['connectors'], 'ofToken'> };
  tokens: IngestTokens;
  catalog: Catalog;
  connectors: Connectors;
  clock: Clock;
  /** Milliseconds for which records for a connector are accepted while the database is away. */
  lifetimeMs: number;
}

/** The connector of a request with a valid token. */
export interface Found {
  connectorId: string;
  organizationId: string;
  /** Receiver of the connector's type. Absent: the type accepts no requests. */
  receiver: Receiver | undefined;
  /** Path below the connector's own address: `''`, `/v1/logs`. */
  path: string;
}

/**
 * Finds the connector of a request and authorizes the sender. Checks the token first, without a
 * query; a wrong token and an unknown id get the same response.
 */
export type FindConnector = (request: IncomingMessage) => Promise<Found>;

export function createFindConnector(options: FindOptions): FindConnector {
  const { store, tokens, catalog, connectors, clock, lifetimeMs } = options;
  const load = async (connectorId: string): Promise<KnownConnector | undefined> => {
    const row = await store.connectors.ofToken(connectorId);
    return row && { id: row.id, organizationId: row.organizationId, kind: row.kind, type: row.type };
  };
  const known = createKnownConnectors({ load, clock, lifetimeMs });
  return async (request) => {
    if (request.method !== 'POST')
      throw new HttpError(405, 'invalid_request', 'Send records with POST.', { headers: { Allow: 'POST' } });
    const [, id = '', path = ''] = /^\/ingest\/([\w-]{1,64})((?:\/\w+)*)\/?(?:\?|$)/.exec(request.url ?? '') ?? [];
    const [, token = ''] = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    const row = tokens.isOf(id, token) ? await known.get(id) : undefined;
    if (!row) throw unknown();
    const type = catalog.get(row.kind, row.type);
    return {
      connectorId: row.id,
      organizationId: row.organizationId,
      receiver: type && connectors(type).receiver,
      path,
    };
  };
}

const unknown = (): HttpError =>
  new HttpError(
    401,
    'unauthenticated',
    'Send the token of this connector as "Authorization: Bearer <token>". The API returns the URL and the token in "ingest" of the connector.',
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  );
