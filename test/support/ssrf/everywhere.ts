import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import type { Certificate } from '../certificate.js';

export interface Everywhere {
  /** Returns the distinct addresses connected to since the last call. */
  dialled(): string[];
  close(): Promise<void>;
}

/**
 * Listens on every address, in a network namespace where all addresses are local, and records the
 * addresses connected to.
 */
export async function listenEverywhere(ports: {
  http: readonly number[];
  https: readonly number[];
  tcp: readonly number[];
  certificate: Certificate;
  respond: RequestListener;
}): Promise<Everywhere> {
  const addresses = new Set<string>();
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  const listen = async (server: Server, port: number): Promise<void> => {
    server.on('connection', (socket: Socket) => {
      addresses.add((socket.localAddress ?? '').replace(/^::ffff:(?=\d+\.)/, ''));
      sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    });
    server.on('tlsClientError', () => undefined).on('clientError', () => undefined);
    // Both families: `::` accepts IPv4 connections as well.
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '::', resolve));
    servers.push(server);
  };
  for (const port of ports.http) await listen(createHttp(ports.respond), port);
  for (const port of ports.https) await listen(createHttps(ports.certificate, ports.respond), port);
  for (const port of ports.tcp)
    // Words of no protocol: some clients wait for the server to speak first.
    await listen(
      createTcp((socket) => socket.end('hello\r\n')),
      port,
    );
  return {
    dialled() {
      const found = [...addresses].toSorted();
      addresses.clear();
      return found;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
