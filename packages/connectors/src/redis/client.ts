import type { Socket } from 'node:net';
import { ConnectorError, type Egress, type FailureKind } from '@connector-frame/engine/connector-api';
import type * as ioredis from 'ioredis';
import { brokerError, openConnection, type BrokerAddress } from '../_shared/broker/connection.js';
import type { RedisTarget } from './config.js';

/** Longer than the server blocks for an entry of a list. */
const COMMAND_MS = 20_000;
const SETUP_MS = 10_000;

/** The first word of an error. https://redis.io/docs/latest/develop/reference/protocol-spec/ */
const errors: Readonly<Record<string, readonly [code: string, kind: FailureKind, message: string]>> = {
  WRONGPASS: ['invalid_credentials', 'permanent', 'Redis did not accept the user and password.'],
  NOAUTH: ['invalid_credentials', 'permanent', 'Redis asks for a password.'],
  NOPERM: ['forbidden', 'permanent', 'This user may not run the command, or may not use the key.'],
  WRONGTYPE: ['rejected', 'permanent', 'The key holds something else.'],
  OOM: ['upstream_error', 'retry', 'Redis has no memory left.'],
  READONLY: ['rejected', 'retry', 'This server is a replica, which can only be read.'],
  LOADING: ['upstream_error', 'retry', 'Redis is loading its data.'],
  MASTERDOWN: ['upstream_error', 'retry', 'Redis has lost the connection to its master.'],
  BUSY: ['upstream_error', 'retry', 'Redis is busy with a script.'],
  MISCONF: ['upstream_error', 'retry', 'Redis cannot save its data and refuses writes.'],
  MOVED: ['rejected', 'permanent', 'This server is part of a cluster, and another one has the key.'],
  DENIED: ['forbidden', 'permanent', 'Redis does not accept connections from other hosts without a password.'],
  NOPROTO: ['rejected', 'permanent', 'This version of Redis is too old.'],
};

/** Converts an error of the client to one that quotes nothing from the server. */
export function redisError(error: unknown): ConnectorError {
  const isReply = error instanceof Error && error.name === 'ReplyError';
  if (!isReply) return brokerError(error, 'Redis');
  const [code, kind, message] = errors[error.message.split(' ', 1)[0] ?? ''] ?? [];
  if (code !== undefined && kind !== undefined && message !== undefined) return new ConnectorError(code, message, kind);
  if (/^ERR unknown command/i.test(error.message))
    return new ConnectorError('rejected', 'This version of Redis is too old: 6.2 or later is required.', 'permanent');
  if (/^ERR (?:AUTH|invalid password|Client sent AUTH)/i.test(error.message))
    return new ConnectorError('invalid_credentials', 'Redis did not accept the user and password.', 'permanent');
  if (/^ERR (?:DB index|invalid DB)/i.test(error.message))
    return new ConnectorError('invalid_config', 'Redis has no database of this number.', 'permanent');
  return new ConnectorError('rejected', 'Redis refused the command.', 'retry');
}

/** A connection that is ready for commands. Nothing reconnects: a new one is opened instead. */
export interface RedisSession {
  redis: ioredis.Redis;
  socket: Socket;
  /** Resolves when the connection ends. */
  ended: Promise<void>;
}

/**
 * Connects through the egress guard and signs in; with Sentinel, to the current master.
 *
 * @throws ConnectorError
 */
export async function connectRedis(target: RedisTarget, egress: Egress, signal: AbortSignal): Promise<RedisSession> {
  const library = await import('ioredis');
  try {
    const { sentinel } = target;
    if (sentinel === undefined) return await open(library, target, target.address, egress, signal);
    const { redis } = await open(library, { ...target, database: 0 }, target.address, egress, signal, false);
    try {
      const reply: unknown = await redis.call('SENTINEL', 'get-master-addr-by-name', sentinel);
      const [host, port]: unknown[] = Array.isArray(reply) ? reply : [];
      if (typeof host !== 'string')
        throw new ConnectorError('not_found', 'The Sentinel knows no master of this name.', 'permanent');
      return await open(library, target, { ...target.address, host, port: Number(port) }, egress, signal);
    } finally {
      redis.disconnect();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw redisError(error);
  }
}

async function open(
  { AbstractConnector, Redis }: typeof ioredis,
  { database, username, password }: RedisTarget,
  address: BrokerAddress,
  egress: Egress,
  signal: AbortSignal,
  signsIn = true,
): Promise<RedisSession> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(SETUP_MS)]);
  const socket = await openConnection(egress, address, limit);
  class Connected extends AbstractConnector {
    constructor() {
      super(0);
    }
    connect(): Promise<Socket> {
      this.connecting = true;
      this.stream = socket;
      return Promise.resolve(socket);
    }
  }
  const redis = new Redis({
    lazyConnect: true,
    Connector: Connected,
    ...(signsIn && username !== undefined && { username }),
    ...(signsIn && password !== undefined && { password }),
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    connectTimeout: SETUP_MS,
    commandTimeout: COMMAND_MS,
  });
  let failure: unknown;
  redis.on('error', (error: unknown) => (failure ??= error));
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
  });
  try {
    await redis.connect();
    // Also fails if the server asks for a password and there is none.
    await redis.ping();
    // The client's own option `db` ignores an error, and would write to another database.
    if (database !== 0) await redis.select(database);
  } catch (error) {
    redis.disconnect();
    socket.destroy();
    throw failure ?? error;
  }
  return { redis, socket, ended };
}
