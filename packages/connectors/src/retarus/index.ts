import type { ConnectorCode, TesterConfig } from '@connector-frame/engine/connector-api';
import { brokerError } from '../_shared/broker/connection.js';
import { createBrokerTester } from '../_shared/broker/create-broker-tester.js';
import { invalidConfig } from '../_shared/output/send.js';
import { text } from '../_shared/read.js';
import { openWebSocket, webSocketUrl, type WebSocketTarget } from '../_shared/websocket/client.js';
import { keepAlive } from '../_shared/websocket/keep-alive.js';
import { createMessageInput } from '../_shared/websocket/message-input.js';

const PRODUCT = 'Retarus';
const PING_MS = 30_000;

/** @throws ConnectorError `invalid_config` */
function readTarget({ settings, secrets }: TesterConfig): WebSocketTarget {
  const url = webSocketUrl(text(settings, 'ws_url') ?? '');
  const key = text(secrets, 'ws_key');
  if (url?.protocol !== 'wss:' || key === undefined) throw invalidConfig('An address and a token are required.');
  return { url, headers: { authorization: `Bearer ${key}` } };
}

/**
 * Receives the events of the Forensic SIEM Integration, one JSON object for each message.
 * https://www.retarus.com/services/email-security/siem-integration/
 */
export const retarusEmailEventsInput: ConnectorCode = {
  createInput: (config, { egress, clock }) => {
    const target = readTarget(config);
    return createMessageInput({
      product: PRODUCT,
      clock,
      async open(signal) {
        const client = await openWebSocket(egress, target, PRODUCT, signal);
        keepAlive(client, PING_MS, PING_MS);
        return client;
      },
    });
  },
  testConnection: createBrokerTester({
    fields: {
      product: PRODUCT,
      address: '/settings/ws_url',
      user: '/settings/ws_url',
      password: '/secrets/ws_key',
      name: '/settings/ws_url',
    },
    connect: (config, egress, signal) => openWebSocket(egress, readTarget(config), PRODUCT, signal),
    check: () => Promise.resolve('Retarus accepted the token.'),
    close: (client) => client.terminate(),
    convert: (error) => brokerError(error, PRODUCT),
  }),
};
