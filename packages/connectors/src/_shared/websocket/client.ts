import type { ConnectionOptions } from 'node:tls';
import { ConnectorError, type Egress } from '@connector-frame/engine/connector-api';
import type { WebSocket } from 'ws';
import { brokerError, openConnection } from '../broker/connection.js';
import { egressFailure, statusFailure } from '../output/failures.js';

export interface WebSocketTarget {
  /** `ws:` or `wss:`. */
  url: URL;
  headers?: Readonly<Record<string, string>>;
  /** For `wss:`. */
  tls?: ConnectionOptions;
  /** Bytes of a message. */
  maxMessage?: number;
}

const SETUP_MS = 15_000;
const MAX_MESSAGE = 4 * 1024 * 1024;

/**
 * Parses the address of a WebSocket.
 * @returns `undefined` if it is none
 */
export function webSocketUrl(address: string): URL | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url && (url.protocol === 'ws:' || url.protocol === 'wss:') && url.username === '' ? url : undefined;
}

/**
 * Opens a WebSocket on a connection that was opened through the egress guard. Redirects are not
 * followed. The socket is paused; errors after the opening are emitted as `close`.
 *
 * @param product name as used in a sentence
 * @throws ConnectorError, or the reason of `signal`
 */
export async function openWebSocket(
  egress: Egress,
  { url, headers = {}, tls = {}, maxMessage = MAX_MESSAGE }: WebSocketTarget,
  product: string,
  signal: AbortSignal,
): Promise<WebSocket> {
  const { WebSocket } = await import('ws');
  const limit = AbortSignal.any([signal, AbortSignal.timeout(SETUP_MS)]);
  const isSecure = url.protocol === 'wss:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  let client: WebSocket | undefined;
  const stop = (): void => client?.terminate();
  try {
    const socket = await openConnection(egress, { host: url.hostname, port, ...(isSecure && { tls }) }, limit);
    client = new WebSocket(url, {
      createConnection: () => socket,
      headers: { 'user-agent': 'connector-frame', ...headers },
      followRedirects: false,
      handshakeTimeout: SETUP_MS,
      maxPayload: maxMessage,
      // A small message could become a very large one.
      perMessageDeflate: false,
    });
    limit.addEventListener('abort', stop, { once: true });
    await opened(client, product);
    return client;
  } catch (error) {
    client?.terminate();
    signal.throwIfAborted();
    if (limit.aborted) throw egressFailure('timeout', product);
    throw brokerError(error, product);
  } finally {
    limit.removeEventListener('abort', stop);
  }
}

function opened(client: WebSocket, product: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('open', () => {
      // Messages may arrive before the caller listens.
      client.pause();
      resolve();
    });
    // Kept for the whole life of the client: `close` follows.
    client.on('error', () => reject(new ConnectorError('connect_failed', 'closed')));
    client.once('unexpected-response', (request, { statusCode = 0, headers }) => {
      const after = headers['retry-after'];
      const given = new Headers(after === undefined ? {} : { 'retry-after': after });
      reject(refusal(statusCode, given, product));
      request.destroy();
    });
    client.once('close', () => reject(egressFailure('connect_failed', product)));
  });
}

function refusal(status: number, headers: Headers, product: string): ConnectorError {
  if (status >= 300 && status <= 399) return egressFailure('redirected', product);
  return statusFailure({ status, headers }, product, Date.now());
}
