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
    const { tries } = database.encryption;
    for (const [index, encrypted] of tries.entries()) {
      try {
        return await attempt(database, encrypted, egress, signal, work);
      } catch (error) {
        const another = index < tries.length - 1 && mayTryOtherwise(error);
        if (!another) throw error;
      }
    }
    throw new EgressError('tls_failed', 'no way of encryption was accepted');
  });
}

function mayTryOtherwise(error: unknown): boolean {
  return error instanceof Refusal
    ? error.state === NOT_THIS_WAY
    : error instanceof EgressError && error.reason === 'tls_failed';
}

async function attempt<T>(
  database: Database,
  encrypted: boolean,
  egress: Egress,
  signal: AbortSignal,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  const { host, port, encryption } = database;
  const socket = await egress.connect({ host, port, signal });
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const stream = encrypted ? await encrypt(socket, host, signal, encryption) : socket;
    const client = createClient(database, stream);
    await understood(client.connect());
    const query: Query = async (sql, values = []) => (await understood(client.query(sql, [...values]))).rows;
    const result = await work(query);
    await client.end();
    return result;
  } finally {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  }
}

function createClient({ host, port, database, user, password }: Database, socket: Socket): Client {
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > MAX_BYTES) socket.destroy(new EgressError('too_large', `more than ${MAX_BYTES} bytes`));
  });
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
async function understood<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof EgressError || error instanceof Refusal) throw error;
    if (error instanceof DatabaseError && error.code !== undefined) throw new Refusal(error.code);
    throw new EgressError('invalid_answer', 'the server does not speak PostgreSQL as expected');
  }
}
