import { ConnectorError, EgressError } from '@connector-frame/engine/connector-api';
import type { TestFailureReason } from '@connector-frame/engine/connector-api';
import { egressFailure } from '../_shared/output/failures.js';
import { at } from '../_shared/read.js';

/** Why a session failed, as codes of `TestFailureReason`. */
export interface MailFailure {
  reason: TestFailureReason;
  message: string;
  /** A person has to change something. */
  isPermanent: boolean;
  /** Pointer to the field that is likely wrong. */
  at?: string;
}

const SERVER = 'the mail server';

/** What an error of nodemailer tells: https://nodemailer.com/errors */
interface SmtpError {
  code: string;
  /** Reply code of the server; 0 if it sent none. */
  reply: number;
  /** The command it replied to. */
  command: string;
  /** Whether the TLS handshake after STARTTLS failed. Nodemailer reports it as an error of the socket. */
  isTls: boolean;
}

/** Codes of Node.js for certificates that are not accepted, and for handshakes that fail. */
const TLS_CODE = /CERT|SSL|TLS|SIGNATURE|EPROTO/;

/** Reads an error of nodemailer, or returns `undefined` for any other. */
export function smtpErrorIn(error: unknown): SmtpError | undefined {
  const [code, original, reply, command] = ['code', 'originalCode', 'responseCode', 'command'].map((name) =>
    at({ ...Object(error) }, name),
  );
  if (typeof code !== 'string' || !code.startsWith('E')) return undefined;
  return {
    code,
    reply: typeof reply === 'number' ? reply : 0,
    command: typeof command === 'string' ? command : '',
    isTls: code === 'ETLS' || (typeof original === 'string' && TLS_CODE.test(original)),
  };
}

/**
 * Describes the error of a session in our own words: the server's may repeat what was sent.
 * Returns `undefined` for an error that is a bug.
 */
export function mailFailureOf(error: unknown): MailFailure | undefined {
  const smtp = smtpErrorIn(error);
  if (!smtp) return undefined;
  const { code, reply, command, isTls } = smtp;
  if (isTls) {
    const message =
      'Could not encrypt the connection to the mail server: it does not offer STARTTLS, or its certificate is not trusted.';
    return { reason: 'tls_failed', message, isPermanent: true, at: '/settings/host' };
  }
  if (code === 'ETIMEDOUT')
    return { reason: 'timeout', message: 'The mail server did not respond in time.', isPermanent: false };
  // The server closes the connection, or is busy: 421, 450, 451, 452, 454.
  if (reply >= 400 && reply < 500) {
    const message = `The mail server can’t take messages at this time (reply ${reply}).`;
    return { reason: 'upstream_error', message, isPermanent: false };
  }
  if (code === 'EAUTH' || code === 'ENOAUTH' || reply === 530 || reply === 535) {
    const message =
      reply === 0
        ? 'The mail server offers no way to sign in with a password.'
        : 'The mail server did not accept the user name or password.';
    return { reason: 'invalid_credentials', message, isPermanent: true, at: '/secrets/password' };
  }
  if (command === 'MAIL FROM' && reply >= 500) {
    const message = `The mail server does not accept this sender (reply ${reply}).`;
    return { reason: 'rejected', message, isPermanent: true, at: '/settings/from' };
  }
  if (command === 'RCPT TO' && reply >= 500) {
    const message = `The mail server accepts none of the recipients (reply ${reply}).`;
    return { reason: 'rejected', message, isPermanent: true, at: '/settings/to' };
  }
  if (code === 'EPROTOCOL' && reply < 500) {
    const message = 'Unexpected response: it does not appear to come from a mail server.';
    return { reason: 'unexpected_answer', message, isPermanent: true, at: '/settings/port' };
  }
  if (reply >= 500)
    return { reason: 'rejected', message: `The mail server refused the session (reply ${reply}).`, isPermanent: true };
  return {
    reason: 'connect_failed',
    message: 'The mail server could not be reached, or closed the connection.',
    isPermanent: false,
    at: '/settings/host',
  };
}

/** Converts an error of a session to a `ConnectorError`. Other errors are returned as they are. */
export function toConnectorError(error: unknown): unknown {
  if (error instanceof EgressError) return egressFailure(error.reason, SERVER);
  const failure = mailFailureOf(error);
  if (!failure) return error;
  const { reason, message, isPermanent } = failure;
  return new ConnectorError(reason, message, isPermanent ? 'permanent' : 'retry');
}
