import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { ConnectorError, type CreateInput, type PushInput } from '@connector-frame/engine/connector-api';
import { at } from '../read.js';
import { PortServer } from './port-server.js';
import type { Protocol } from './protocol.js';
import { joinServer } from './shared-servers.js';
import { tlsOptions } from './tls-options.js';

/** Creates inputs that listen for a protocol, each on its own port. */
export const createPortInput =
  (protocolOf: (config: ConnectorConfig) => Protocol): CreateInput =>
  (config, { listen, clock }): PushInput => {
    if (!listen) throw new ConnectorError('no_port', 'This service has no port for this input.', 'permanent');
    if (at(config, 'settings', 'mode') === 'unix')
      throw new ConnectorError(
        'invalid_config',
        'Senders reach this service over the network, not over a socket on its machine. Choose TCP.',
        'permanent',
      );
    const seconds = at(config, 'settings', 'max_connection_duration_secs');
    const settings = {
      protocol: protocolOf(config),
      tls: tlsOptions(config, listen),
      ...(typeof seconds === 'number' && { maxConnectionMs: seconds * 1_000 }),
    };
    let leave: (() => Promise<void>) | undefined;
    return {
      kind: 'push',
      async start(sink) {
        leave = await joinServer(
          listen,
          () => new PortServer(listen, clock, settings),
          (server) => (server.settings = settings),
          sink,
        );
      },
      async close() {
        const ending = leave;
        leave = undefined;
        await ending?.();
      },
    };
  };
