import type { Catalog } from '@connector-frame/catalog';
import type { Connectors } from '@connector-frame/connectors';
import type { Reveal } from '../http/route.js';
import type { Vault } from '../secrets/vault.js';
import { createIngestAddresses, type IngestAddressOf } from '../connectors/ingest-addresses.js';
import { createPorts, DEFAULT_PORTS, type PortRange, type Ports } from '../connectors/ports.js';
import { createRevealTokens } from './reveal-tokens.js';
import { createIngestTokens } from './tokens.js';

/** Public address for syslog senders. */
export interface SyslogSettings {
  /**
   * Host name or address under which senders reach this machine. Default: the host of the public
   * URL.
   */
  publicHost?: string;
  /** Ports for syslog inputs. Default: 6514 to 6613. */
  ports?: PortRange;
}

/** Ingest functions that the connector routes use. */
export interface IngestContext {
  placeOf: IngestAddressOf;
  ports: Ports;
  reveal: Reveal;
}

export function createIngestContext(
  { catalog, connectors, secrets }: { catalog: Catalog; connectors: Connectors; secrets: Vault },
  { publicUrl, syslog = {} }: { publicUrl: string; syslog?: SyslogSettings },
): IngestContext {
  const syslogHost = syslog.publicHost ?? new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1');
  const tokens = createIngestTokens(secrets);
  const addressOf = (connectorId: string): string => tokens.addressOf(connectorId);
  return {
    placeOf: createIngestAddresses(catalog, connectors, { publicUrl, syslogHost, addressOf }),
    ports: createPorts(syslog.ports ?? DEFAULT_PORTS, connectors),
    reveal: createRevealTokens(tokens),
  };
}
