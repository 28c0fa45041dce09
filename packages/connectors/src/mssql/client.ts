import type { Socket } from 'node:net';
import type { Connection } from 'tedious';
import { EgressError, withDeadline, type Egress, type JsonValue } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';
import { SqlError, type SessionLimits, type SqlResult, type SqlSession } from '../_shared/sql/session.js';
import { failureOfNumber } from './error-numbers.js';

export interface MssqlDatabase {
  host: string;
  port: number;
  database: string;
  user: string;
  /** Empty if the server requires none. */
  password: string;
  encrypted: boolean;
  /** Whether the certificate is checked, for `host` or `certificateName`. */
  verified: boolean;
  certificateName?: string;
  /** Certificate authorities (PEM) instead of the public ones. */
  ca?: string;
}

const SIGN_IN_MS = 15_000;

/**
 * Signs in within 15 seconds. The caller must close the session.
 *
 * @throws SqlError, EgressError
 */
export function openMssql(
  database: MssqlDatabase,
  egress: Egress,
  caller: AbortSignal,
  limits: SessionLimits,
): Promise<SqlSession> {
  return withDeadline(SIGN_IN_MS, caller, (signal) => signIn(database, egress, signal, limits));
}

/** What went wrong, as far as the client's own errors don't tell. */
interface Progress {
  failure?: EgressError;
  /** Error number of the server's last message. */
  number?: number;
  closed: boolean;
  received: number;
}

async function signIn(
  database: MssqlDatabase,
  egress: Egress,
  signal: AbortSignal,
  limits: SessionLimits,
): Promise<SqlSession> {
  // Loaded on demand: the client depends on the sign-in of Azure, which takes long to load.
  const { Connection, Request, TYPES } = await import('tedious');
  const progress: Progress = { closed: false, received: 0 };
  // The client passes the address, which its types don't declare: Azure may name another host.
  const connector = async (...[target]: readonly unknown[]): Promise<Socket> => {
    try {
      const host = text(target, 'host') ?? database.host;
      const port = Number(at(target, 'port') ?? database.port);
      const socket = await egress.connect({ host, port, signal });
      socket.on('data', (chunk: Buffer) => {
        progress.received += chunk.length;
        if (progress.received <= limits.maxBytes) return;
        progress.failure ??= new EgressError('too_large', `more than ${limits.maxBytes} bytes`);
        socket.destroy();
      });
      return socket;
    } catch (error) {
      if (error instanceof EgressError) progress.failure ??= error;
      throw error;
    }
  };
  const connection = new Connection({
    server: database.host,
    authentication: { type: 'default', options: { userName: database.user, password: database.password } },
    options: {
      connector,
      port: database.port,
      database: database.database,
      encrypt: database.encrypted,
      trustServerCertificate: !database.verified,
      ...(database.certificateName !== undefined && { serverName: database.certificateName }),
      ...(database.ca !== undefined && { cryptoCredentialsDetails: { ca: database.ca } }),
      connectTimeout: SIGN_IN_MS,
      requestTimeout: limits.queryMs,
      maxRetriesOnTransientErrors: 0,
      rowCollectionOnRequestCompletion: true,
      appName: 'connector-frame',
    },
  });
  const stop = (): void => {
    progress.closed = true;
    connection.close();
  };
  signal.addEventListener('abort', stop, { once: true });
  connection.on('end', () => (progress.closed = true));
  // Without a listener, a lost connection would end the process.
  connection.on('error', () => (progress.closed = true));
  connection.on('errorMessage', (message) => (progress.number = message.number));
  requireTls(connection, database, progress);
  try {
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => (error ? reject(error) : resolve()));
    });
  } catch (error) {
    stop();
    if (signal.aborted) throw signal.reason;
    throw progress.failure ?? toSignInError(error, progress, database.host);
  } finally {
    signal.removeEventListener('abort', stop);
  }
  const query: SqlSession['query'] = (sql, values = []) => {
    progress.received = 0;
    delete progress.number;
    return new Promise<SqlResult>((resolve, reject) => {
      let columns: string[] = [];
      const request = new Request(sql, (error, _count, rows: unknown) => {
        if (error) reject(toQueryError(error, progress));
        else resolve({ columns, rows: rowsOf(rows) });
      });
      request.on('columnMetadata', (found) => {
        columns = Object.values(found).map(({ colName }) => colName);
      });
      for (const [index, value] of values.entries()) request.addParameter(`p${index + 1}`, TYPES.NVarChar, value);
      if (progress.closed) reject(new EgressError('connect_failed', 'the connection is closed'));
      else if (values.length === 0) connection.execSqlBatch(request);
      else connection.execSql(request);
    });
  };
  return {
    query,
    get closed() {
      return progress.closed;
    },
    end: async () => stop(),
    destroy: stop,
  };
}

/**
 * Ends the sign-in before the password is sent if the server has no TLS: the client would then go on
 * without.
 */
function requireTls(connection: Connection, { encrypted, host }: MssqlDatabase, progress: Progress): void {
  const negotiate = connection.performTlsNegotiation.bind(connection);
  const performTlsNegotiation: typeof negotiate = async (response, signal) => {
    try {
      const { encryptionString: offered } = response;
      if (encrypted && offered !== 'ON' && offered !== 'REQ') throw new Error('no TLS');
      await negotiate(response, signal);
    } catch (error) {
      if (!signal.aborted) progress.failure ??= new EgressError('tls_failed', `TLS with ${host} failed`);
      throw error;
    }
  };
  Object.assign(connection, { performTlsNegotiation });
}

function rowsOf(rows: unknown): JsonValue[][] {
  if (!Array.isArray(rows)) return [];
  return rows.map((row: unknown) => (Array.isArray(row) ? row.map((cell) => toJson(at(cell, 'value'))) : []));
}

function toJson(value: unknown): JsonValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Buffer.isBuffer(value)) return `0x${value.toString('hex')}`;
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}

/** Converts errors of the client to errors without the server's text. */
function toQueryError(error: unknown, { failure, number }: Progress): Error {
  if (failure) return failure;
  const found = numberOf(error) ?? number;
  if (found !== undefined) return new SqlError(failureOfNumber(found), found);
  if (codeOf(error) === 'ETIMEOUT') return new SqlError('timeout', 'ETIMEOUT');
  return new EgressError('connect_failed', 'the connection broke');
}

function toSignInError(error: unknown, { number }: Progress, host: string): Error {
  if (number !== undefined) return new SqlError(failureOfNumber(number), number);
  if (codeOf(error) === 'ETIMEOUT') return new EgressError('timeout', `${host} does not respond`);
  if (codeOf(error) === 'ELOGIN') return new SqlError('invalid_credentials', 'ELOGIN');
  return new EgressError('invalid_answer', `${host} does not speak TDS as expected`);
}

function numberOf(error: unknown): number | undefined {
  const number = error instanceof Error && 'number' in error ? error.number : undefined;
  return typeof number === 'number' ? number : undefined;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
