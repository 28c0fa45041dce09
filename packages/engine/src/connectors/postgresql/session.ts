import type { Socket } from 'node:net';
import { Client, DatabaseError } from 'pg';
import { EgressError, withDeadline, type Egress } from '../../egress/index.js';
import { encrypt, type Encryption } from './encryption.js';

export interface Database {
  host: string;
  port: number;
  database: string;
  user: string;
  /** Empty when the server asks for none. */
  password: string;
  encryption: Encryption;
}

/** The server said no; `state` is its SQLSTATE. Its words stay here. */
export class Refusal extends Error {
  constructor(readonly state: string) {
    super(`SQLSTATE ${state}`);
  }
}

/** Runs a query with its values, and answers the rows. */
export type Query = (sql: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

export const WRONG_PASSWORD = '28P01';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
/** invalid_authorization_specification: among others, that this user must come with TLS, or without. */
const NOT_THIS_WAY = '28000';

/** A connection that has signed in. */
export interface Session {
  query: Query;
  /** The connection is gone, whoever ended it. */
  readonly closed: boolean;
  /** Says goodbye to the server. */
  end(): Promise<void>;
  /** Hangs up. */
  destroy(): void;
}

export interface SessionLimits {
  /** Milliseconds for the answer to one query; absent: as long as the caller waits. */
  queryMs?: number;
  /** Bytes of the answer to one query. Default 1 MiB. */
  maxBytes?: number;
}

/**
 * Signs in and hands a way to ask to `work`. The connection ends with it.
 *
 * @throws Refusal, EgressError
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
 * Signs in, within ten seconds; the connection stays until it is ended.
 *
 * @throws Refusal, EgressError
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
      const another = index < tries.length - 1 && mayTryOtherwise(error);
      if (!another) throw error;
    }
  }
  throw new EgressError('tls_failed', 'no way of encryption was accepted');
}

function mayTryOtherwise(error: unknown): boolean {
  return error instanceof Refusal
    ? error.state === NOT_THIS_WAY
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
  let hungUp: EgressError | undefined;
  const hangUp = (error?: EgressError): void => {
    hungUp ??= error;
    socket.destroy();
  };
  const stop = (): void => hangUp();
  const late = (): void => hangUp(new EgressError('timeout', `${host} does not answer`));
  signal.addEventListener('abort', stop, { once: true });
  try {
    const stream = encrypted ? await encrypt(socket, host, signal, encryption) : socket;
    // Nobody fills our memory: an answer that is too long ends the connection.
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > maxBytes) hangUp(new EgressError('too_large', `more than ${maxBytes} bytes`));
    });
    const client = createClient(database, stream);
    await understood(client.connect());
    let closed = false;
    stream.once('close', () => (closed = true));
    return {
      query: async (sql, values = []) => {
        received = 0;
        const timer = queryMs === undefined ? undefined : setTimeout(late, queryMs);
        try {
          return (await understood(client.query(sql, [...values]), true)).rows;
        } catch (error) {
          throw hungUp ?? error;
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
    throw hungUp ?? error;
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
    // Not a string: the client takes an empty one for none, and then our own PGPASSWORD or ~/.pgpass.
    password: () => {
      if (password === '') throw new Refusal(WRONG_PASSWORD);
      return password;
    },
    ssl: false,
    application_name: 'connector-frame',
    // Ours is connected already; the client must not dial the name again.
    stream: () => Object.assign(socket, { connect: () => void setImmediate(() => socket.emit('connect')) }),
  });
  // A server that hangs up after the last answer must not end the process.
  client.on('error', () => undefined);
  return client;
}

/** What the client rejects with, without the server's words. */
async function understood<T>(answer: Promise<T>, signedIn = false): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof EgressError || error instanceof Refusal) throw error;
    if (error instanceof DatabaseError && error.code !== undefined) throw new Refusal(error.code);
    if (signedIn) throw new EgressError('connect_failed', 'the connection broke');
    throw new EgressError('invalid_answer', 'the server does not speak PostgreSQL as expected');
  }
}
