import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createSecureContext, type ConnectionOptions } from 'node:tls';
import { EgressError, secure } from '@connector-frame/engine/connector-api';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';

/**
 * The connection attempts that a libpq `sslmode` stands for.
 * https://www.postgresql.org/docs/current/libpq-ssl.html
 */
export interface Encryption {
  /** Whether to use TLS, for each attempt in order until the server accepts one. */
  tries: readonly boolean[];
  /** Whether the server may decline a request for TLS. */
  mayRefuse: boolean;
  tls: ConnectionOptions;
}

const unverified = { rejectUnauthorized: false };

/** `prefer`, the default of PostgreSQL's own clients. */
export const preferTls: Encryption = { tries: [true, false], mayRefuse: true, tls: unverified };

/**
 * Parses `ssl_mode` from the settings and the client key from the secrets. The default is
 * `require`.
 */
export function readEncryption(
  settings: Record<string, unknown>,
  secrets: Record<string, unknown>,
): Encryption | Failure {
  const mode = text(settings, 'ssl_mode', 'mode');
  switch (mode) {
    case 'disable':
      return { tries: [false], mayRefuse: true, tls: {} };
    case 'allow':
      return { tries: [false, true], mayRefuse: true, tls: unverified };
    case 'prefer':
      return preferTls;
    case 'verify-ca':
    case 'verify-full':
      return verified(settings, secrets, mode);
    default:
      return { tries: [true], mayRefuse: false, tls: unverified };
  }
}

function verified(
  settings: Record<string, unknown>,
  secrets: Record<string, unknown>,
  mode: 'verify-ca' | 'verify-full',
): Encryption | Failure {
  const branch = mode === 'verify-ca' ? 'verify_ca' : 'verify_full';
  const ca = text(settings, 'ssl_mode', branch, 'ca_certificate');
  const cert = text(settings, 'ssl_mode', branch, 'client_certificate');
  const key = text(secrets, 'client_key');
  const passphrase = text(secrets, 'client_key_password');
  const own = cert && key ? { cert, key, ...(passphrase && { passphrase }) } : {};
  const field = `/settings/ssl_mode/${branch}`;
  if (ca === undefined || !isCertificate(ca)) {
    return failed('invalid_config', 'This is not a certificate in PEM format.', { at: `${field}/ca_certificate` });
  }
  if (!usable(own)) {
    return failed('invalid_config', 'The client certificate and its key do not match.', {
      at: [`${field}/client_certificate`, '/secrets/client_key'],
    });
  }
  const name = mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {};
  return { tries: [true], mayRefuse: false, tls: { ca, ...own, ...name } };
}

/** Returns whether `pem` is a certificate. TLS silently ignores an invalid CA. */
function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== '';
  } catch {
    return false;
  }
}

function usable(options: ConnectionOptions): boolean {
  try {
    createSecureContext(options);
    return true;
  } catch {
    return false;
  }
}

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/**
 * Requests TLS and wraps the socket. Returns the plain socket if the server has no TLS and
 * `mayRefuse` is set. The server responds with one byte; more bytes before the TLS handshake
 * indicate a man-in-the-middle attack.
 * @throws EgressError
 */
export async function encrypt(
  socket: Socket,
  host: string,
  signal: AbortSignal,
  { mayRefuse, tls }: Encryption,
): Promise<Socket> {
  socket.write(SSL_REQUEST);
  await once(socket, 'readable', { signal }).catch((error: unknown) => {
    throw new EgressError('connect_failed', `${host} closed the connection`, { cause: error });
  });
  const response: unknown = socket.read();
  const word = Buffer.isBuffer(response) ? response.toString('latin1') : '';
  if (word === 'S') return secure(socket, host, signal, tls);
  if (word === 'N' && mayRefuse) return socket;
  socket.destroy();
  if (word === 'N') throw new EgressError('tls_failed', `${host} has no TLS`);
  throw new EgressError('invalid_answer', `${host} does not speak PostgreSQL`);
}
