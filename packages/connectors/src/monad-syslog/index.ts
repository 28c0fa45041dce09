import {
  type ConnectorCode,
  ConnectorError,
  type CreateInput,
  type PushInput,
} from '@connector-frame/engine/connector-api';
import { texts } from '../_shared/read.js';
import { joinServer } from './shared-servers.js';

const createInput: CreateInput = (config, { listen, clock }): PushInput => {
  if (!listen)
    throw new ConnectorError(
      'no_port',
      'This service does not listen for syslog: it has no port for this input.',
      'permanent',
    );
  const fingerprints = new Set(
    texts(config, 'settings', 'cert_fingerprints').map((text) => text.replaceAll(':', '').toUpperCase()),
  );
  if (fingerprints.size > 0 && !listen.tls)
    throw new ConnectorError(
      'no_tls',
      'Only certain certificates may send, and this service has no TLS for syslog.',
      'permanent',
    );
  let leave: (() => Promise<void>) | undefined;
  return {
    kind: 'push',
    async start(sink) {
      leave = await joinServer(listen, clock, fingerprints, sink);
    },
    async close() {
      const ending = leave;
      leave = undefined;
      await ending?.();
    },
  };
};

/** Receives syslog messages over UDP, TCP and TLS, on a port of its own. */
export const monadSyslogInput: ConnectorCode = { createInput, listens: true };
