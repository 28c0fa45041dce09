import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import type { Certificate } from './certificate.js';

export interface Listener {
  host: string;
  port: number;
  /** Connections accepted so far. */
  connections(): number;
  close(): Promise<void>;
}

export interface WebListener extends Listener {
  /** `http://127.0.0.1:5555`, without a slash at the end. */
  origin: string;
}

/** Starts a raw TCP server on a port of `host`, by default a free one. */
export function listenTcp(onSocket: (socket: Socket) => void, host = '127.0.0.1', port = 0): Promise<Listener> {
  return start(createTcp(onSocket), host, port);
}

/** Starts an HTTP server, or an HTTPS server if given a certificate. */
export async function listenHttp(
  onRequest: RequestListener,
  host = '127.0.0.1',
  tls?: Certificate,
): Promise<WebListener> {
  const listener = await start(tls ? createHttps(tls, onRequest) : createHttp(onRequest), host);
  return { ...listener, origin: `${tls ? 'https' : 'http'}://${host}:${listener.port}` };
}

async function start(server: Server, host: string, wanted = 0): Promise<Listener> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(wanted, host, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    host,
    port: address.port,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
