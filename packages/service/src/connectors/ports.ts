import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import type { Connectors } from '@connector-frame/connectors';
import type { Logger } from 'pino';
import { ApiError } from '../api-error.js';
import type { Store, Tables } from '../store/store.js';

/** Range of ports for inputs that listen, inclusive. */
export interface PortRange {
  first: number;
  last: number;
}

export const DEFAULT_PORTS: PortRange = { first: 6_514, last: 6_613 };

export interface Ports {
  /**
   * Returns a port for a new connector, to be stored in the same transaction; null for a type that
   * does not listen.
   * @throws ApiError 409 `no_port`
   */
  take(tables: Tables, type: ConnectorTypeData): Promise<number | null>;
}

export function createPorts(range: PortRange, connectors: Connectors): Ports {
  return {
    async take(tables, type) {
      if (connectors(type).listens !== true) return null;
      const port = await tables.connectors.takePort(range);
      if (port !== undefined) return port;
      const advice = 'Delete one that is no longer needed, or ask the operator for a larger range (SYSLOG_PORTS).';
      throw new ApiError(409, 'no_port', `All ports for listening inputs are in use. ${advice}`);
    },
  };
}

/** Assigns a port to each connector that was created before ports existed, until none is left. */
export async function assignPorts(
  store: Store,
  types: readonly string[],
  { range, log }: { range: PortRange; log: Logger },
): Promise<void> {
  if ((await store.connectors.withoutPort(types)).length === 0) return;
  await store.transaction(async (tables) => {
    for (const connector of await tables.connectors.withoutPort(types)) {
      const port = await tables.connectors.takePort(range);
      if (port === undefined)
        return log.warn({ connector_id: connector.id }, 'no free port for an input; enlarge SYSLOG_PORTS');
      await tables.connectors.update({ ...connector, port, version: connector.version + 1 });
    }
    return undefined;
  });
}
