import { type Egress, secure } from '@connector-frame/engine/connector-api';
import type { SMTPConnectionSendInfo } from 'nodemailer/lib/smtp-connection';
import type { MailServer } from './config.js';

/** Milliseconds until the server has greeted and is encrypted, and of silence within a session. */
const GREETING_MS = 15_000;
const SILENCE_MS = 60_000;
/** Bytes of one response. */
const MAX_RESPONSE = 64 * 1024;

/** A signed-in session with a mail server. */
export interface MailSession {
  /**
   * Sends a message. Resolves once the server is responsible for it, with the recipients it accepted.
   * @throws an error of nodemailer
   */
  send(from: string, to: readonly string[], message: Buffer): Promise<SMTPConnectionSendInfo>;
  /** Ends the session. Idempotent. */
  close(): void;
}

/**
 * Connects through the egress guard, encrypts and signs in. Certificates are always verified, and
 * nodemailer gets an open socket, so that it never resolves a name or connects on its own.
 * @throws EgressError, an error of nodemailer, or the reason of `signal`
 */
export async function openSession(
  { host, port, encryption, ca, login }: MailServer,
  egress: Egress,
  signal: AbortSignal,
): Promise<MailSession> {
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection');
  const tls = ca === undefined ? {} : { ca };
  const socket = await egress.connect({ host, port, signal });
  const isSecured = encryption === 'tls';
  const stream = isSecured ? await secure(socket, host, signal, tls) : socket;
  const connection = new SMTPConnection({
    host,
    port,
    connection: stream,
    secure: isSecured,
    secured: isSecured,
    requireTLS: encryption === 'starttls',
    ignoreTLS: encryption === 'none',
    tls,
    greetingTimeout: GREETING_MS,
    socketTimeout: SILENCE_MS,
    maxResponseSize: MAX_RESPONSE,
  });
  const close = (): void => {
    connection.close();
    socket.destroy();
  };
  /** Runs one step of the session. An error of the connection also ends it. */
  const step = <T>(run: (done: (error: Error | null, result?: T) => void) => void): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      const fail = (error: unknown): void => reject(signal.aborted ? signal.reason : error);
      const abort = (): void => {
        close();
        fail(undefined);
      };
      const finish = (error: Error | null, result?: T): void => {
        signal.removeEventListener('abort', abort);
        connection.off('error', fail);
        if (error) fail(error);
        else resolve(result);
      };
      if (signal.aborted) {
        abort();
        return;
      }
      signal.addEventListener('abort', abort);
      connection.on('error', fail);
      run(finish);
    });
  // Without a listener, an error between two steps would end the process.
  connection.on('error', () => undefined);
  try {
    await step<void>((done) => connection.connect((error) => done(error ?? null)));
    if (login) await step<void>((done) => connection.login(login, (error) => done(error ?? null)));
  } catch (error) {
    close();
    throw error;
  }
  return {
    async send(from, to, message) {
      const info = await step<SMTPConnectionSendInfo>((done) =>
        connection.send({ from, to: [...to], size: message.length }, message, (error, result) =>
          done(error ?? null, result),
        ),
      );
      if (!info) throw new Error('The session ended without a result.');
      return info;
    },
    close() {
      connection.quit();
      close();
    },
  };
}
