import type { Socket } from 'node:net';
import { Client, DatabaseError } from 'pg';
import { EgressError, withDeadline, type Egress } from '@connector-frame/engine/connector-api';
import { encrypt, type Encryption } from './encryption.js';

export interface Database {
  host: string;
  port: number;
  database: string;
  user: string;
  /** Empty if the server requires none. */
  password: string;
  encryption: Encryption;
}

/** The server returned an error. `state` is its SQLSTATE. Does not expose the server's message. */
export class QueryError extends Error {
  readonly state: string;

  constructor(state: string) {
    super(`SQLSTATE ${state}`);
    this.state = state;
  }
}

/** Runs a query with its parameters and returns the rows. */
export type Query = (sql: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

export const WRONG_PASSWORD = '28P01';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
/**
 * `invalid_authorization_specification`. One cause is that this user must connect with TLS, or
 * without.
 */
const INVALID_AUTHORIZATION = '28000';

/** An authenticated connection. */
export interface Session {
  query: Query;
  /** Whether the connection is closed, by either side. */
  readonly closed: boolean;
  /** Terminates the session and closes the connection. */
  end(): Promise<void>;
  /** Closes the connection immediately. */
  destroy(): void;
}

export interface SessionLimits {
  /** Milliseconds to wait for the result of one query; absent: limited only by the caller. */
  queryMs?: number;
  /** Maximum bytes of one query's result. Default 1 MiB. */
  maxBytes?: number;
}

/**
 * Signs in, calls `work` with a query function, and closes the connection when `work` settles. All
 * of it must complete within 10 seconds.
 *
 * @throws QueryError, EgressError
 */
export async function withSession<T>(
  database: Database,
  egress: Egress,
  caller: AbortSignal,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  return withDeadline(TIMEOUT_MS, caller, async (signal) => {
    const session = await signIn(database, egress, signal, {});
    const stop = (): void => session.destroy();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const result = await work(session.query);
      await session.end();
      return result;
    } finally {
      signal.removeEventListener('abort', stop);
      session.destroy();
    }
  });
}

/**
 * Signs in within 10 seconds. The caller must close the session.
 *
 * @throws QueryError, EgressError
 */
export function openSession(
  database: Database,
  egress: Egress,
  caller: AbortSignal,
  limits: SessionLimits,
): Promise<Session> {
  return withDeadline(TIMEOUT_MS, caller, (signal) => signIn(database, egress, signal, limits));
}

async function signIn(
  database: Database,
  egress: Egress,
  signal: AbortSignal,
  limits: SessionLimits,
): Promise<Session> {
  const { tries } = database.encryption;
  for (const [index, encrypted] of tries.entries()) {
    try {
      return await attempt(database, encrypted, egress, signal, limits);
    } catch (error) {
      const another = index < tries.length - 1 && mayRetryWithOtherMode(error);
      if (!another) throw error;
    }
  }
  throw new EgressError('tls_failed', 'the server accepted no encryption mode');
}

function mayRetryWithOtherMode(error: unknown): boolean {
  return error instanceof QueryError
    ? error.state === INVALID_AUTHORIZATION
    : error instanceof EgressError && error.reason === 'tls_failed';
}

async function attempt(
  database: Database,
  encrypted: boolean,
  egress: Egress,
  signal: AbortSignal,
  { queryMs, maxBytes = MAX_BYTES }: SessionLimits,
): Promise<Session> {
  const { host, port, encryption } = database;
  const socket = await egress.connect({ host, port, signal });
  let received = 0;
  let failure: EgressError | undefined;
  const disconnect = (error?: EgressError): void => {
    failure ??= error;
    socket.destroy();
  };
  const stop = (): void => disconnect();
  const onTimeout = (): void => disconnect(new EgressError('timeout', `${host} does not respond`));
  signal.addEventListener('abort', stop, { once: true });
  try {
    const stream = encrypted ? await encrypt(socket, host, signal, encryption) : socket;
    // Limit memory: close the connection if a result is too large.
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > maxBytes) disconnect(new EgressError('too_large', `more than ${maxBytes} bytes`));
    });
    const client = createClient(database, stream);
    await withoutServerText(client.connect());
    let closed = false;
    stream.once('close', () => (closed = true));
    return {
      query: async (sql, values = []) => {
        received = 0;
        const timer = queryMs === undefined ? undefined : setTimeout(onTimeout, queryMs);
        try {
          return (await withoutServerText(client.query(sql, [...values]), true)).rows;
        } catch (error) {
          throw failure ?? error;
        } finally {
          clearTimeout(timer);
        }
      },
      get closed() {
        return closed;
      },
      end: () => client.end(),
      destroy: stop,
    };
  } catch (error) {
    socket.destroy();
    throw failure ?? error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function createClient({ host, port, database, user, password }: Database, socket: Socket): Client {
  const client = new Client({
    host,
    port,
    database,
    user,
    // A function, because pg treats an empty string as absent and falls back to this process's
    // PGPASSWORD or ~/.pgpass.
    password: () => {
      if (password === '') throw new QueryError(WRONG_PASSWORD);
      return password;
    },
    ssl: false,
    application_name: 'connector-frame',
    // The socket is already connected; pg must not resolve and dial the host again.
    stream: () => Object.assign(socket, { connect: () => void setImmediate(() => socket.emit('connect')) }),
  });
  // Without a listener, a server that disconnects after the last response would crash the process.
  client.on('error', () => undefined);
  return client;
}

/** Converts pg's errors to errors without the server's text. */
async function withoutServerText<T>(query: Promise<T>, signedIn = false): Promise<T> {
  try {
    return await query;
  } catch (error) {
    if (error instanceof EgressError || error instanceof QueryError) throw error;
    if (error instanceof DatabaseError && error.code !== undefined) throw new QueryError(error.code);
    if (signedIn) throw new EgressError('connect_failed', 'the connection broke');
    throw new EgressError('invalid_answer', 'the server does not speak PostgreSQL as expected');
  }
}
