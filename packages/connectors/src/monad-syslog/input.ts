import { ConnectorError, type CreateInput, type PushInput } from '@connector-frame/engine/connector-api';
import { texts } from '../_shared/read.js';
import { joinServer } from '../_shared/listen/shared-servers.js';
import { SyslogServer } from './syslog-server.js';

/** Creates an input that listens for syslog messages on a port. */
export const createSyslogInput: CreateInput = (config, { listen, clock }): PushInput => {
  if (!listen) throw new ConnectorError('no_port', 'This service has no port for this syslog input.', 'permanent');
  const fingerprints = new Set(
    texts(config, 'settings', 'cert_fingerprints').map((text) => text.replaceAll(':', '').toUpperCase()),
  );
  if (fingerprints.size > 0 && !listen.tls)
    throw new ConnectorError(
      'no_tls',
      'Senders are restricted by certificate, but this service has no TLS for syslog.',
      'permanent',
    );
  let leave: (() => Promise<void>) | undefined;
  return {
    kind: 'push',
    async start(sink) {
      leave = await joinServer(
        listen,
        () => new SyslogServer({ at: listen, clock }),
        (server) => (server.fingerprints = fingerprints),
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
