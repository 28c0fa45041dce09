import { readFile } from 'node:fs/promises';
import {
  AuthorizationError,
  connect,
  credsAuthenticator,
  nkeyAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';
import { JetStreamSetupError } from './setup-error.js';
import { addressesIn, type NatsSettings } from './nats-settings.js';

/** Milliseconds: to sign in, between attempts to reconnect, and between pings. */
const SIGN_IN_MS = 10_000;
const RECONNECT_MS = 500;
const PING_MS = 5_000;

/**
 * Connects to NATS. The connection reconnects by itself, forever.
 * @throws JetStreamSetupError, and errors of the file system
 */
export async function connectNats(settings: NatsSettings): Promise<NatsConnection> {
  const urls = addressesIn(settings.url).map((address) => new URL(address));
  const signIn = urls.find(({ username }) => username !== '');
  const user = decodeURIComponent(signIn?.username ?? '');
  const pass = decodeURIComponent(signIn?.password ?? '');
  const { credsFile, nkeyFile, caFile, certFile, keyFile } = settings;
  const hasTls = urls.some(({ protocol }) => protocol === 'tls:') || caFile !== undefined || certFile !== undefined;
  const options: NodeConnectionOptions = {
    servers: urls.map(({ host, port }) => (port === '' ? `${host}:4222` : host)),
    name: settings.name ?? 'connector-frame',
    timeout: SIGN_IN_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    // Credentials may be replaced while the process runs.
    ignoreAuthErrorAbort: true,
    pingInterval: PING_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    ...(credsFile !== undefined && {
      authenticator: credsAuthenticator(await readFile(credsFile)),
    }),
    ...(nkeyFile !== undefined && { authenticator: nkeyAuthenticator(await seedIn(nkeyFile)) }),
    ...(hasTls && {
      tls: {
        ...(caFile !== undefined && { caFile }),
        ...(certFile !== undefined && { certFile }),
        ...(keyFile !== undefined && { keyFile }),
      },
    }),
  };
  return connect(options).catch((error: unknown) => {
    const where = urls.map(({ host }) => host).join(', ');
    const advice = isRefusal(error) ? 'It does not accept the credentials.' : 'It does not respond.';
    throw new JetStreamSetupError(`Could not connect to NATS at ${where}. ${advice} Check NATS_URL.`, { cause: error });
  });
}

const isRefusal = (error: unknown): boolean =>
  error instanceof AuthorizationError || (error instanceof Error && error.cause instanceof AuthorizationError);

async function seedIn(path: string): Promise<Uint8Array> {
  const text = await readFile(path, 'utf8');
  return new TextEncoder().encode(/SU[A-Z2-7]{56}/.exec(text)?.[0] ?? text.trim());
}
