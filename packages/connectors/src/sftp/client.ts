import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Client, ConnectConfig, SFTPWrapper } from 'ssh2';
import { ConnectorError, EgressError, type Egress } from '@connector-frame/engine/connector-api';
import { egressFailure } from '../_shared/output/failures.js';
import type { SftpTarget } from './config.js';

const PRODUCT = 'the SFTP server';
const SETUP_MS = 20_000;
const KEEP_ALIVE_MS = 15_000;

/** A signed-in connection with its SFTP channel. */
export interface SftpSession {
  sftp: SFTPWrapper;
  /** Whether the connection has ended. */
  isOver(): boolean;
  close(): void;
}

/**
 * Signs in on a connection that was opened through the egress guard. With a fingerprint in the
 * configuration, nothing is sent to a server with another host key.
 *
 * @throws ConnectorError, or the reason of `signal`
 */
export async function openSftp(target: SftpTarget, egress: Egress, signal: AbortSignal): Promise<SftpSession> {
  const { Client } = await import('ssh2');
  const limit = AbortSignal.any([signal, AbortSignal.timeout(SETUP_MS)]);
  let socket: Socket;
  try {
    socket = await egress.connect({ host: target.host, port: target.port, signal: limit });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressError) throw egressFailure(error.reason, PRODUCT);
    throw egressFailure('timeout', PRODUCT);
  }
  const client = new Client();
  let over = false;
  client.on('close', () => {
    over = true;
  });
  const stop = (): void => void socket.destroy();
  limit.addEventListener('abort', stop, { once: true });
  try {
    const sftp = await signedIn(client, target, socket);
    sftp.on('error', () => undefined);
    return { sftp, isOver: () => over, close: () => client.end() };
  } catch (error) {
    client.destroy();
    socket.destroy();
    signal.throwIfAborted();
    if (limit.aborted) throw egressFailure('timeout', PRODUCT);
    throw error instanceof ConnectorError ? error : egressFailure('connect_failed', PRODUCT);
  } finally {
    limit.removeEventListener('abort', stop);
  }
}

function signedIn(client: Client, target: SftpTarget, sock: Socket): Promise<SFTPWrapper> {
  return new Promise((resolve, reject) => {
    let wrongKey = false;
    client.on('error', (error) => {
      if (wrongKey) reject(refusal('tls_failed', 'The host key of the SFTP server is not the one in the settings.'));
      else if (error.level === 'client-authentication')
        reject(refusal('invalid_credentials', 'The SFTP server did not accept the user name and credentials.'));
      else reject(egressFailure('connect_failed', PRODUCT));
    });
    client.once('close', () => reject(egressFailure('connect_failed', PRODUCT)));
    client.once('ready', () => {
      client.sftp((error, sftp) => {
        if (error) reject(refusal('forbidden', 'The SSH server does not offer SFTP to this user.'));
        else resolve(sftp);
      });
    });
    // Servers with PAM ask for the password this way.
    client.on('keyboard-interactive', (_name, _instructions, _language, prompts, answer) =>
      answer(prompts.map(() => target.password ?? '')),
    );
    const options: ConnectConfig = {
      sock,
      username: target.username,
      ...(target.privateKey === undefined ? { password: target.password ?? '' } : { privateKey: target.privateKey }),
      tryKeyboard: target.privateKey === undefined,
      readyTimeout: SETUP_MS,
      keepaliveInterval: KEEP_ALIVE_MS,
      hostVerifier: (key: Buffer) => {
        const found = createHash('sha256').update(key).digest('base64').replace(/=+$/, '');
        wrongKey = target.hostKey !== undefined && found !== target.hostKey;
        return !wrongKey;
      },
    };
    try {
      client.connect(options);
    } catch {
      reject(refusal('invalid_config', 'The private key cannot be read: it is damaged, or has a passphrase.'));
    }
  });
}

const refusal = (code: string, message: string): ConnectorError => new ConnectorError(code, message, 'permanent');

/** Codes of https://datatracker.ietf.org/doc/html/draft-ietf-secsh-filexfer-02#section-7 */
export const STATUS = { noSuchFile: 2, permissionDenied: 3, failure: 4, unsupported: 8 } as const;

export const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined;

/** Converts an error of a request to one that does not quote the server. */
export function sftpError(error: unknown, doing: string): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const status = statusOf(error);
  if (status === STATUS.noSuchFile)
    return refusal('not_found', `The SFTP server has no such folder: could not ${doing}.`);
  if (status === STATUS.permissionDenied)
    return refusal('forbidden', `The SFTP server does not allow this user to ${doing}.`);
  if (status !== undefined) return new ConnectorError('upstream_error', `The SFTP server could not ${doing}.`);
  return egressFailure('connect_failed', PRODUCT);
}
