import { Socket } from 'node:net';
import { PassThrough, type Duplex } from 'node:stream';
import { TLSSocket, type ConnectionOptions } from 'node:tls';
import type { Connection, ConnectionOptions as ClientOptions, FieldPacket } from 'mysql2';
import { EgressError, secure, withDeadline, type Egress, type JsonValue } from '@connector-frame/engine/connector-api';
import { SqlError, type SessionLimits, type SqlResult, type SqlSession } from '../_shared/sql/session.js';
import { failureOfNumber } from './error-numbers.js';
import { toJson } from './values.js';

/** How a connection is encrypted. */
export interface Encryption {
  /** `preferred`: without, if the server has no TLS. */
  mode: 'off' | 'preferred' | 'always';
  /** Which parts of the certificate are checked. */
  verify: 'nothing' | 'authority' | 'identity';
  /** Certificate authorities (PEM) instead of the public ones. */
  ca?: string;
}

export interface MysqlDatabase {
  host: string;
  port: number;
  database: string;
  user: string;
  /** Empty if the server requires none. */
  password: string;
  encryption: Encryption;
}

const SIGN_IN_MS = 10_000;
const NO_TLS = 'HANDSHAKE_NO_SSL_SUPPORT';

/**
 * Times and texts in one form, regardless of the server's settings. A statement ends on the server too:
 * MySQL and MariaDB have different names for that limit, and each ignores the other's comment.
 */
const PREPARE = [
  `SET SESSION time_zone = '+00:00', SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'`,
  'SET /*!50708 SESSION max_execution_time = 60000 */ /*M!100101 SESSION max_statement_time = 60 */',
];

/**
 * Signs in within 10 seconds. The caller must close the session.
 *
 * @throws SqlError, EgressError
 */
export function openMysql(
  database: MysqlDatabase,
  egress: Egress,
  caller: AbortSignal,
  limits: SessionLimits,
): Promise<SqlSession> {
  return withDeadline(SIGN_IN_MS, caller, async (signal) => {
    const { mode } = database.encryption;
    try {
      return await signIn(database, mode !== 'off', egress, signal, limits);
    } catch (error) {
      if (mode !== 'preferred' || !(error instanceof NoTlsError)) throw error;
      return signIn(database, false, egress, signal, limits);
    }
  });
}

class NoTlsError extends EgressError {
  constructor(host: string) {
    super('tls_failed', `${host} has no TLS`);
  }
}

async function signIn(
  database: MysqlDatabase,
  encrypted: boolean,
  egress: Egress,
  signal: AbortSignal,
  { queryMs, maxBytes }: SessionLimits,
): Promise<SqlSession> {
  const { createConnection } = await import('mysql2');
  const { host, port } = database;
  const socket = await egress.connect({ host, port, signal });
  let received = 0;
  let failure: EgressError | undefined;
  let closed = false;
  const disconnect = (error?: EgressError): void => {
    failure ??= error;
    socket.destroy();
  };
  socket.once('close', () => (closed = true));
  const stop = (): void => disconnect();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const connection = createConnection(clientOptions(database, encrypted, socket));
    secureBy(connection, () => secure(socket, host, signal, tlsOptions(database.encryption)));
    await new Promise<void>((resolve, reject) => {
      connection.once('connect', () => resolve());
      connection.on('error', reject);
      socket.once('close', () => reject(new Error('closed')));
    });
    // Limit memory: close the connection if a result is too large.
    streamOf(connection, encrypted).on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > maxBytes) disconnect(new EgressError('too_large', `more than ${maxBytes} bytes`));
    });
    const query: SqlSession['query'] = async (sql, values = []) => {
      received = 0;
      const timer = setTimeout(() => disconnect(new EgressError('timeout', `${host} does not respond`)), queryMs);
      try {
        return await new Promise<SqlResult>((resolve, reject) => {
          const done = (error: unknown, rows: unknown, fields?: readonly FieldPacket[]): void =>
            error ? reject(toError(error)) : resolve(toResult(rows, fields ?? []));
          if (closed) reject(new EgressError('connect_failed', 'the connection is closed'));
          else if (values.length === 0) connection.query({ sql, rowsAsArray: true }, done);
          else connection.execute({ sql, rowsAsArray: true }, [...values], done);
        });
      } catch (error) {
        throw failure ?? error;
      } finally {
        clearTimeout(timer);
      }
    };
    for (const statement of PREPARE) await query(statement);
    return {
      query,
      get closed() {
        return closed;
      },
      end: () => new Promise((resolve) => connection.end(() => resolve())),
      destroy: stop,
    };
  } catch (error) {
    socket.destroy();
    if (failure ?? signal.aborted) throw failure ?? signal.reason;
    throw toSignInError(error, host);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The parts of the client that its types don't declare. */
interface Internals {
  stream: Duplex;
  packetParser: { execute(chunk: Buffer): void };
  startTLS(onSecure: (error?: unknown) => void): void;
}

/** Returns the stream of a connection: with TLS, another one than its socket. */
function streamOf(connection: Connection & Partial<Internals>, encrypted: boolean): Duplex {
  const { stream } = connection;
  if (stream instanceof (encrypted ? TLSSocket : Socket)) return stream;
  throw new EgressError('tls_failed', 'the connection is not encrypted');
}

/**
 * Replaces the client's own TLS handshake, which compares the certificate with the name `localhost` if
 * the host is an IP address.
 */
function secureBy(connection: Connection & Partial<Internals>, handshake: () => Promise<TLSSocket>): void {
  const startTLS: Internals['startTLS'] = (onSecure) => {
    connection.stream?.removeAllListeners('data');
    // Until the handshake is complete, nothing that the client writes is sent.
    connection.stream = new PassThrough();
    void continueOn();
    async function continueOn(): Promise<void> {
      try {
        const stream = await handshake();
        stream.on('data', (chunk: Buffer) => connection.packetParser?.execute(chunk));
        connection.stream = stream;
        onSecure();
      } catch (error) {
        onSecure(error);
      }
    }
  };
  Object.assign(connection, { startTLS });
}

function clientOptions(
  { host, database, user, password }: MysqlDatabase,
  encrypted: boolean,
  socket: Socket,
): ClientOptions {
  return {
    host,
    user,
    password,
    database,
    stream: () => socket,
    ...(encrypted && { ssl: {} }),
    charset: 'utf8mb4',
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    multipleStatements: false,
    // Statements differ by their number of rows: only the most recent are worth keeping.
    maxPreparedStatements: 4,
    // Without it, a server may not ask for files of this machine.
    flags: ['-LOCAL_FILES'],
  };
}

function tlsOptions({ verify, ca }: Encryption): ConnectionOptions {
  return {
    ...(ca !== undefined && { ca }),
    ...(verify === 'nothing' && { rejectUnauthorized: false }),
    ...(verify === 'authority' && { checkServerIdentity: () => undefined }),
  };
}

function toResult(rows: unknown, fields: readonly FieldPacket[]): SqlResult {
  if (!Array.isArray(rows)) return { columns: [], rows: [] };
  return {
    columns: fields.map(({ name }) => name),
    rows: rows.map((row: unknown): JsonValue[] =>
      fields.map((field, index) => toJson(Array.isArray(row) ? row[index] : undefined, field)),
    ),
  };
}

/** Converts errors of the client to errors without the server's text. */
function toError(error: unknown): Error {
  if (error instanceof SqlError || error instanceof EgressError) return error;
  const number = numberOf(error);
  if (number !== undefined) return new SqlError(failureOfNumber(number), number);
  return new EgressError('connect_failed', 'the connection broke');
}

function toSignInError(error: unknown, host: string): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === NO_TLS) return new NoTlsError(host);
  if (error instanceof EgressError || error instanceof SqlError) return error;
  if (numberOf(error) !== undefined) return toError(error);
  if (code === 'HANDSHAKE_SSL_ERROR') return new EgressError('tls_failed', `TLS with ${host} failed`);
  if (code === 'MYSQL_CLEAR_PASSWORD_NOT_ENABLED' || code === 'AUTH_SWITCH_PLUGIN_ERROR')
    return new SqlError('invalid_credentials', code);
  return new EgressError('invalid_answer', `${host} does not speak MySQL as expected`);
}

function numberOf(error: unknown): number | undefined {
  const number = error instanceof Error && 'errno' in error ? error.errno : undefined;
  return typeof number === 'number' && number > 0 ? number : undefined;
}
