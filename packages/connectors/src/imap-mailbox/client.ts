import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import { connect as startTls } from 'node:tls';
import { ConnectorError, type Egress } from '@connector-frame/engine/connector-api';
import type { ImapFlow } from 'imapflow';
import { brokerError, openConnection } from '../_shared/broker/connection.js';
import { egressFailure } from '../_shared/output/failures.js';
import type { MailboxTarget } from './config.js';

const PRODUCT = 'the IMAP server';
const SETUP_MS = 30_000;
/** Maximum bytes of one response: a message and its envelope. */
const MAX_RESPONSE = 40 * 1024 * 1024;

/**
 * Signs in on a connection that was opened through the egress guard.
 *
 * @throws ConnectorError, or the reason of `signal`
 */
export async function openMailbox(target: MailboxTarget, egress: Egress, signal: AbortSignal): Promise<ImapFlow> {
  const { ImapFlow } = await import('imapflow');
  const { host, port, encryption, user, password } = target;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(SETUP_MS)]);
  let client: ImapFlow | undefined;
  const stop = (): void => client?.close();
  try {
    const isSecure = encryption === 'tls';
    const socket = await openConnection(egress, { host, port, ...(isSecure && { tls: {} }) }, limit);
    client = new ImapFlow({
      host,
      port,
      secure: isSecure,
      doSTARTTLS: encryption === 'starttls',
      auth: { user, pass: password },
      logger: false,
      emitLogs: false,
      disableAutoIdle: true,
      clientInfo: { name: 'connector-frame' },
      maxLineLength: MAX_RESPONSE,
      maxLiteralSize: MAX_RESPONSE,
      maxResponseSize: MAX_RESPONSE + 1024 * 1024,
      transport: transportOf(socket, host),
    });
    // The promises of the client are rejected as well.
    client.on('error', () => undefined);
    limit.addEventListener('abort', stop, { once: true });
    await client.connect();
    return client;
  } catch (error) {
    client?.close();
    signal.throwIfAborted();
    if (limit.aborted) throw egressFailure('timeout', PRODUCT);
    throw imapError(error);
  } finally {
    limit.removeEventListener('abort', stop);
  }
}

/** Uses the connection that is open already. STARTTLS checks the certificate for the same host. */
const transportOf = (socket: Socket, host: string) => ({
  connect: (_options: unknown, onConnect: () => void): Socket => {
    queueMicrotask(onConnect);
    return socket;
  },
  upgrade: (_socket: unknown, _options: unknown, onSecure: () => void): Socket =>
    startTls({ socket, host, servername: isIP(host) ? '' : host }, onSecure),
});

const properties = (error: unknown): Record<string, unknown> =>
  error instanceof Error ? Object.fromEntries(Object.entries(error)) : {};

/** Converts an error of the client to one that quotes nothing from the server. */
export function imapError(error: unknown): ConnectorError {
  const { authenticationFailed, mailboxMissing, serverResponseCode, tlsFailed, code } = properties(error);
  if (mailboxMissing === true || serverResponseCode === 'NONEXISTENT')
    return new ConnectorError('not_found', 'The mailbox has no such folder.', 'permanent');
  if (serverResponseCode === 'UNAVAILABLE' || serverResponseCode === 'INUSE' || serverResponseCode === 'LIMIT')
    return new ConnectorError('upstream_error', 'The IMAP server is not available.', 'retry');
  if (authenticationFailed === true)
    return new ConnectorError(
      'invalid_credentials',
      'The IMAP server did not accept the user name and password.',
      'permanent',
    );
  if (tlsFailed === true || code === 'STARTTLS_REQUIRED') return egressFailure('tls_failed', PRODUCT);
  return brokerError(error, PRODUCT);
}
