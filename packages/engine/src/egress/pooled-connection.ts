import type { Socket } from 'node:net';
import { Client, type buildConnector } from 'undici';
import { EgressError } from './error.js';

/** Milliseconds an idle connection is kept. Shorter than the idle timeout of most servers. */
const IDLE_MS = 4_000;

/** One HTTP connection that serves requests one after the other. It never reconnects. */
export interface PooledConnection {
  readonly client: Client;
  /** Requests served before the current one. */
  used: number;
  /** Response bytes received on this connection. */
  bytesReceived(): number;
  /** Closes the connection and aborts the request in progress. */
  end(): void;
}

/**
 * @param open opens the socket; called at most once
 * @param onEnd called when the connection is closed
 */
export function openConnection(
  origin: string,
  open: () => Promise<Socket>,
  onEnd: (connection: PooledConnection) => void,
): PooledConnection {
  let opening: Promise<Socket> | undefined;
  let socket: Socket | undefined;
  const client = new Client(origin, {
    // If the client could reconnect, it would resend requests beyond the retry limit.
    connect: (_target, callback) => {
      const first = opening === undefined;
      opening = first ? open() : Promise.reject(new EgressError('connect_failed', 'connection lost'));
      void handOver(opening, callback, (opened) => (socket = opened));
    },
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    maxHeaderSize: 16 * 1024,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const connection: PooledConnection = {
    client,
    used: 0,
    bytesReceived: () => socket?.bytesRead ?? 0,
    end: () => {
      onEnd(connection);
      client.destroy().catch(() => undefined);
    },
  };
  client.once('disconnect', () => connection.end());
  return connection;
}

async function handOver(
  opening: Promise<Socket>,
  callback: buildConnector.Callback,
  keep: (socket: Socket) => void,
): Promise<void> {
  let socket: Socket;
  try {
    socket = await opening;
  } catch (error) {
    callback(error instanceof Error ? error : new Error('stopped'), null);
    return;
  }
  keep(socket);
  callback(null, socket);
}
