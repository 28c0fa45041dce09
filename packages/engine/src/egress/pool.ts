import type { Socket } from 'node:net';
import type { PooledConnection } from './pooled-connection.js';

/** Maximum idle connections: per destination, and in total. Connections in use are not limited. */
const MAX_IDLE_PER_TARGET = 8;
const MAX_IDLE = 64;

/**
 * The destination of a connection and its TLS settings. Connections are only reused for the same
 * ones.
 */
export interface Target {
  url: URL;
  verifyTls: boolean;
  ca: string | undefined;
}

/** Opens a socket to a destination, with TLS if the scheme requires it. */
export type OpenSocket = (target: Target, signal: AbortSignal) => Promise<Socket>;

export interface Pool {
  /** Returns the most recently used idle connection to the destination, or `undefined`. */
  acquire(target: Target): PooledConnection | undefined;
  /**
   * Opens a new connection, which passes the address check. `signal` aborts connecting.
   * @throws the reason of `signal`
   */
  open(target: Target, signal: AbortSignal): Promise<PooledConnection>;
  /** Returns a connection to the pool for reuse. */
  release(connection: PooledConnection, target: Target): void;
  /** Closes all connections. */
  close(): void;
}

export function createPool(openSocket: OpenSocket): Pool {
  const all = new Set<PooledConnection>();
  /** Idle connections, the longest idle first. */
  let idle: { connection: PooledConnection; key: string }[] = [];
  const ended = (connection: PooledConnection): void => {
    all.delete(connection);
    idle = idle.filter((each) => each.connection !== connection);
  };
  return {
    acquire(target) {
      const key = keyOf(target);
      const found = idle.findLast((each) => each.key === key);
      if (!found) return undefined;
      idle = idle.filter((each) => each !== found);
      found.connection.used += 1;
      return found.connection;
    },
    async open(target, signal) {
      // Loads the HTTP client with the first connection.
      const { openConnection } = await import('./pooled-connection.js');
      signal.throwIfAborted();
      const connection = openConnection(target.url.origin, () => openSocket(target, signal), ended);
      all.add(connection);
      return connection;
    },
    release(connection, target) {
      // It may have been closed in the meantime.
      if (!all.has(connection)) return;
      const key = keyOf(target);
      idle.push({ connection, key });
      const there = idle.filter((each) => each.key === key);
      const over = there.length > MAX_IDLE_PER_TARGET ? there[0] : idle.length > MAX_IDLE ? idle[0] : undefined;
      over?.connection.end();
    },
    close() {
      for (const connection of all) connection.end();
    },
  };
}

const keyOf = ({ url, verifyTls, ca = '' }: Target): string => `${url.origin} ${verifyTls} ${ca}`;
