import type { Catalog } from '@connector-frame/catalog';
import { ConnectorError } from '@connector-frame/engine';
import type { Connectors } from '@connector-frame/connectors';
import type { ListenAt } from '@connector-frame/engine/connector-api';
import type { Clock } from '../clock.js';
import type { Connector } from '../store/store.js';
import type { PortRange } from '../connectors/ports.js';
import type { KeyAndCertificate } from './self-signed.js';
import { ownCertificate, readCertificate } from './syslog-certificate.js';

export interface ListenOptions {
  catalog: Catalog;
  connectors: Connectors;
  clock: Clock;
  /** Address to listen on. */
  host: string;
  range: PortRange;
  /** Host under which senders reach this machine, for a self-signed certificate. */
  publicHost: string;
  /** Files of the operator's certificate. Absent: a self-signed certificate is used. */
  files?: { key: string; cert: string };
  /** Folder of the self-signed certificate. */
  folder: string;
}

/**
 * Returns where an input listens on a port of its own, or `undefined` if its type does not listen.
 * @throws ConnectorError `no_port`, permanent
 */
export type ListenAtOf = (connector: Connector) => Promise<ListenAt | undefined>;

/**
 * Creates the function that returns where an input listens.
 * @throws Error immediately when the operator's certificate can't be read
 */
export function createListenAt(options: ListenOptions): ListenAtOf {
  const { catalog, connectors, clock, host, range, publicHost, files, folder } = options;
  const given = files && readCertificate(files.key, files.cert);
  let own: Promise<KeyAndCertificate> | undefined;

  async function createOwn(): Promise<KeyAndCertificate> {
    try {
      return await ownCertificate(folder, publicHost, clock);
    } catch (error) {
      // The next start of the input tries again.
      own = undefined;
      throw error;
    }
  }

  return async ({ kind, type: typeId, port }) => {
    const type = catalog.get(kind, typeId);
    if (!type || connectors(type).listens !== true) return undefined;
    const { first, last } = range;
    if (port === null || port < first || port > last) {
      const why =
        port === null
          ? 'This input has no port, because all were in use'
          : `Port ${port} of this input is out of range`;
      throw new ConnectorError('no_port', `${why} (SYSLOG_PORTS is ${first}-${last}).`, 'permanent');
    }
    // Created on first use: most services never need it.
    return { host, port, tls: given ?? (await (own ??= createOwn())) };
  };
}
