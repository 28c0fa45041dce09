import { ConnectorError, type ConnectorCode, type TesterConfig } from '@connector-frame/engine/connector-api';
import type { WebSocket } from 'ws';
import { brokerError, readTls } from '../_shared/broker/connection.js';
import { createBrokerTester } from '../_shared/broker/create-broker-tester.js';
import { within } from '../_shared/broker/within.js';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';
import { openWebSocket, webSocketUrl, type WebSocketTarget } from '../_shared/websocket/client.js';
import { keepAlive } from '../_shared/websocket/keep-alive.js';

const PRODUCT = 'the WebSocket server';

/** @throws ConnectorError `invalid_config` */
function readTarget(config: TesterConfig): WebSocketTarget {
  const { settings, secrets } = config;
  const url = webSocketUrl(text(settings, 'uri') ?? '');
  if (!url) throw invalidConfig('This is not the address of a WebSocket.');
  const [strategy, user] = [text(settings, 'auth', 'strategy'), text(settings, 'auth', 'basic', 'user')];
  const basic = Buffer.from(`${user ?? ''}:${text(secrets, 'password') ?? ''}`).toString('base64');
  const authorization =
    strategy === 'basic'
      ? `Basic ${basic}`
      : strategy === 'bearer'
        ? `Bearer ${text(secrets, 'token') ?? ''}`
        : undefined;
  return { url, tls: readTls(config), ...(authorization !== undefined && { headers: { authorization } }) };
}

/**
 * Sends each record as a text message. A WebSocket has no acknowledgments: a write is complete when
 * the operating system has taken it, so records in transit when a connection breaks are lost.
 */
export const websocketOutput: ConnectorCode = {
  createOutput(config, { egress }) {
    const target = readTarget(config);
    const seconds = (name: string): number | undefined => {
      const value = at(config.settings, name);
      return typeof value === 'number' ? value * 1_000 : undefined;
    };
    let client: WebSocket | undefined;
    let over = new AbortController();

    async function opened(signal: AbortSignal): Promise<WebSocket> {
      if (client?.readyState === client?.OPEN && client) return client;
      client?.terminate();
      const next = await openWebSocket(egress, target, PRODUCT, signal);
      const ended = new AbortController();
      next.once('close', () => ended.abort());
      // What the server sends is not used.
      next.on('message', () => undefined);
      next.resume();
      keepAlive(next, seconds('ping_interval'), seconds('ping_timeout'));
      [client, over] = [next, ended];
      return next;
    }

    return {
      batching: { records: 500, bytes: 1_000_000, waitMs: 0 },
      open: async (signal) => void (await opened(signal)),
      async write({ lines }, signal) {
        const socket = await opened(signal);
        const sent = Promise.all(
          lines.map(
            (line) =>
              new Promise<void>((resolve, reject) => {
                socket.send(line, (error) => (error ? reject(error) : resolve()));
              }),
          ),
        );
        try {
          await within(sent, { canceled: signal, over: over.signal, product: 'The WebSocket server' });
        } catch (error) {
          sent.catch(() => undefined);
          socket.terminate();
          client = undefined;
          throw brokerError(error, PRODUCT);
        }
        return {};
      },
      close() {
        client?.close();
        client = undefined;
        return Promise.resolve();
      },
    };
  },
  testConnection: createBrokerTester({
    fields: ({ settings }) => ({
      product: PRODUCT,
      address: '/settings/uri',
      user: '/settings/auth',
      password: text(settings, 'auth', 'strategy') === 'bearer' ? '/secrets/token' : '/secrets/password',
      name: '/settings/uri',
    }),
    connect: (config, egress, signal) => openWebSocket(egress, readTarget(config), PRODUCT, signal),
    check: () => Promise.resolve('Connected.'),
    close: (client) => client.terminate(),
    convert: (error) => (error instanceof ConnectorError ? error : brokerError(error, PRODUCT)),
  }),
};
