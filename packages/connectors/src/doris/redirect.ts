import { request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { EgressError, secure, withDeadline, type Egress } from '@connector-frame/engine/connector-api';

const TIMEOUT_MS = 15_000;

export interface FrontendRequest {
  /** Address of the load at a frontend. */
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** Whether any certificate is accepted. */
  verifyTls: boolean;
  ca: string | undefined;
}

export interface FrontendResponse {
  status: number;
  location: string | undefined;
}

/**
 * Asks a frontend where to send a load. It answers only requests with `Expect: 100-continue`, which
 * HTTP clients keep to themselves, so that this one is written to a socket of its own. Sends no body.
 *
 * @throws EgressError
 */
export function askFrontend(
  egress: Egress,
  { url, headers, verifyTls, ca }: FrontendRequest,
  caller: AbortSignal,
): Promise<FrontendResponse> {
  return withDeadline(TIMEOUT_MS, caller, async (signal) => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const isSecure = url.protocol === 'https:';
    const plain = await egress.connect({ host, port: Number(url.port || (isSecure ? 443 : 80)), signal });
    const tls = { ...(ca !== undefined && { ca }), ...(!verifyTls && { rejectUnauthorized: false }) };
    const socket = isSecure ? await secure(plain, host, signal, tls) : plain;
    try {
      const { statusCode: status = 0, headers: received } = await exchange(socket, url, headers, signal);
      return { status, location: received.location };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new EgressError('connect_failed', `${host} closed the connection`, { cause: error });
    } finally {
      socket.destroy();
    }
  });
}

function exchange(
  socket: Socket,
  url: URL,
  headers: FrontendRequest['headers'],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      createConnection: () => socket,
      host: url.host,
      path: `${url.pathname}${url.search}`,
      method: 'PUT',
      headers: { host: url.host, ...headers, expect: '100-continue', 'content-length': '0', connection: 'close' },
      maxHeaderSize: 16_384,
      signal,
    });
    outgoing.once('response', (response) => {
      response.resume();
      resolve(response);
    });
    outgoing.once('error', reject);
    outgoing.end();
  });
}
