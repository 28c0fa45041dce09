import type { Catalog } from '@connector-frame/catalog';
import type { Connectors } from '@connector-frame/connectors';
import type { Connector } from '../store/store.js';

/** Where records for a connector are sent. */
export interface IngestAddress {
  /** `https://connect.example/ingest/<id>`, or `syslog://logs.example:6514`, `tcp://...`. */
  url: string;
  /** Set for a connector with a port of its own. */
  host?: string;
  port?: number;
}

/**
 * Returns where records for a connector are sent; `undefined` for an output and for an input that
 * fetches its records.
 */
export type IngestAddressOf = (
  connector: Pick<Connector, 'id' | 'kind' | 'type' | 'port'>,
) => IngestAddress | undefined;

export interface AddressOptions {
  publicUrl: string;
  syslogHost: string;
  /** Returns the last part of the address of a connector whose senders can't present its token. */
  addressOf: (connectorId: string) => string;
}

export function createIngestAddresses(
  catalog: Catalog,
  connectors: Connectors,
  { publicUrl, syslogHost, addressOf }: AddressOptions,
): IngestAddressOf {
  return ({ id, kind, type: typeId, port }) => {
    const type = catalog.get(kind, typeId);
    const { receiver, createReceiver, listens, scheme = 'syslog' } = type ? connectors(type) : {};
    if (receiver) return { url: `${publicUrl}/ingest/${id}${receiver.path}` };
    if (createReceiver) return { url: `${publicUrl}/ingest/${addressOf(id)}` };
    if (listens !== true || port === null) return undefined;
    const host = syslogHost.includes(':') ? `[${syslogHost}]` : syslogHost;
    return { url: `${scheme}://${host}:${port}`, host: syslogHost, port };
  };
}
