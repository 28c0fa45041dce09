import type { Socket } from 'node:net';
import { ConnectorError, type Egress, secure } from '@connector-frame/engine/connector-api';
import type { Authenticator, NatsConnection } from 'nats-core';
import type * as core from 'nats-core/internal';
import { brokerError, openConnection } from '../_shared/broker/connection.js';
import { at, text } from '../_shared/read.js';
import type { NatsSignIn, NatsTarget } from './config.js';
import { readGreeting, transportFactory, type DialedOptions } from './transport.js';

const SETUP_MS = 10_000;

/** Converts an error of the client to one that quotes nothing from the server. */
export function natsError(error: unknown): ConnectorError {
  const names = [error, error instanceof Error ? error.cause : undefined].map((each) => text(each, 'name'));
  if (names.includes('AuthorizationError'))
    return new ConnectorError('invalid_credentials', 'NATS did not accept the credentials.', 'permanent');
  if (names.includes('PermissionViolationError'))
    return new ConnectorError('forbidden', 'NATS does not allow this user to use the subject.', 'permanent');
  return brokerError(error, 'NATS');
}

/** A signed-in connection. Nothing reconnects: a new one is opened instead. */
export interface NatsSession {
  connection: NatsConnection;
  socket: Socket;
  /** Resolves when the connection ends. */
  ended: Promise<void>;
  /** Aborted when the connection ends. */
  over: AbortSignal;
  /**
   * Resolves when the server has processed everything that was sent.
   * @throws ConnectorError or any error of the client: it refused something
   */
  confirm: () => Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects to the first server that can be reached, through the egress guard, and signs in.
 *
 * @throws ConnectorError
 */
export async function connectNats(target: NatsTarget, egress: Egress, signal: AbortSignal): Promise<NatsSession> {
  const library = await import('nats-core/internal');
  // The client has one factory for all connections. `nats-core` is an alias of `@nats-io/nats-core`:
  // a second copy, so that the engine's buffers in JetStream keep their own factory.
  library.setTransportFactory(transportFactory);
  let failure: ConnectorError | undefined;
  for (const server of target.servers) {
    try {
      return await open(library, target, server, egress, signal);
    } catch (error) {
      signal.throwIfAborted();
      failure = natsError(error);
      // Another server of the cluster would say the same.
      if (failure.code === 'invalid_credentials' || failure.code === 'invalid_config') break;
    }
  }
  throw failure ?? new ConnectorError('invalid_config', 'This is not a valid address.', 'permanent');
}

async function open(
  library: typeof core,
  target: NatsTarget,
  { host, port }: NatsTarget['servers'][number],
  egress: Egress,
  signal: AbortSignal,
): Promise<NatsSession> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(SETUP_MS)]);
  const plain = await openConnection(egress, { host, port }, limit);
  const greeting = await readGreeting(plain, limit);
  const socket = await encrypted(plain, host, greeting, target, limit);
  const options: DialedOptions = {
    socket,
    greeting,
    servers: [`${host}:${port}`],
    name: target.name,
    authenticator: authenticatorOf(library, target.signIn),
    reconnect: false,
    // Credentials go to the servers of the settings only.
    ignoreClusterUpdates: true,
    timeout: SETUP_MS,
  };
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  let connection: NatsConnection;
  try {
    connection = await library.NatsConnectionImpl.connect(options);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  let rejection: ConnectorError | undefined;
  const watch = async (): Promise<void> => {
    for await (const status of connection.status()) if (status.type === 'error') rejection = natsError(status.error);
  };
  void watch();
  const over = new AbortController();
  const wait = async (): Promise<void> => {
    await connection.closed();
    signal.removeEventListener('abort', stop);
    over.abort();
  };
  return {
    connection,
    socket,
    ended: wait(),
    over: over.signal,
    async confirm() {
      await connection.flush();
      // The rejection comes before the response, but the client reports it in a later microtask.
      await new Promise((resolve) => setImmediate(resolve));
      if (rejection) throw rejection;
    },
    async close() {
      await connection.close().catch(() => undefined);
      socket.destroy();
    },
  };
}

/** Never signs in over plaintext if TLS is configured. */
async function encrypted(
  socket: Socket,
  host: string,
  greeting: Buffer,
  { tls }: NatsTarget,
  signal: AbortSignal,
): Promise<Socket> {
  const info = infoOf(greeting);
  const isRequired = at(info, 'tls_required') === true;
  if (!tls && !isRequired) return socket;
  if (tls && !isRequired && at(info, 'tls_available') !== true) {
    socket.destroy();
    throw new ConnectorError('tls_failed', 'This NATS server has no TLS.', 'permanent');
  }
  return secure(socket, host, signal, tls ?? {});
}

function infoOf(greeting: Buffer): unknown {
  try {
    return JSON.parse(greeting.toString('utf8', 'INFO '.length)) as unknown;
  } catch {
    throw new ConnectorError('invalid_answer', 'The server is not a NATS server.', 'permanent');
  }
}

function authenticatorOf(
  { nkeyAuthenticator, tokenAuthenticator, usernamePasswordAuthenticator }: typeof core,
  signIn: NatsSignIn,
): Authenticator[] {
  switch (signIn.kind) {
    case 'password':
      return [usernamePasswordAuthenticator(signIn.user, signIn.password)];
    case 'token':
      return [tokenAuthenticator(signIn.token)];
    case 'nkey':
      return [nkeyAuthenticator(new TextEncoder().encode(text(signIn, 'seed') ?? ''))];
    default:
      return [];
  }
}
