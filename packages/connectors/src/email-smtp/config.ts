import { X509Certificate } from 'node:crypto';
import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { at, text, texts } from '../_shared/read.js';

/** How a connection is encrypted. `offered`: with STARTTLS if the server has it. */
export type Encryption = 'tls' | 'starttls' | 'offered' | 'none';

/** A mail server, and who signs in. */
export interface MailServer {
  host: string;
  port: number;
  encryption: Encryption;
  /** Authority (PEM) to trust instead of the public ones. */
  ca?: string;
  login?: { user: string; pass: string };
}

export interface MailSettings {
  server: MailServer;
  from: string;
  to: readonly string[];
}

/** A setting that can't be used. */
export interface Problem {
  /** Pointer to the field. */
  at: string;
  message: string;
}

/** Port on which the whole connection is encrypted. RFC 8314, 3.3 */
const TLS_PORT = 465;

/** Parses the settings, or returns what is wrong with them. */
export function readMailSettings({ settings, secrets }: ConnectorConfig): MailSettings | Problem {
  const host = text(settings, 'host');
  const port = at(settings, 'port');
  const from = text(settings, 'from');
  const to = texts(settings, 'to');
  if (host === undefined) return { at: '/settings/host', message: 'Enter the host of the mail server.' };
  if (typeof port !== 'number') return { at: '/settings/port', message: 'Enter the port of the mail server.' };
  if (from === undefined) return { at: '/settings/from', message: 'Enter a sender.' };
  if (to.length === 0) return { at: '/settings/to', message: 'Enter at least one recipient.' };
  const user = text(settings, 'username');
  // A password may begin or end with spaces.
  const pass = at(secrets, 'password');
  const hasPassword = typeof pass === 'string' && pass !== '';
  if (user !== undefined && !hasPassword)
    return { at: '/secrets/password', message: 'Enter the password of this user.' };
  if (user === undefined && hasPassword)
    return { at: '/settings/username', message: 'Enter the user of this password.' };
  const encryption = encryptionOf(text(settings, 'encryption'), port, hasPassword);
  if (encryption === 'none' && hasPassword)
    return { at: '/settings/encryption', message: 'A password is not sent without encryption. Choose another one.' };
  const ca = text(secrets, 'ca_certificate');
  if (ca !== undefined && !isCertificate(ca))
    return { at: '/secrets/ca_certificate', message: 'This is not a certificate in PEM format.' };
  const server: MailServer = {
    host,
    port,
    encryption,
    ...(ca !== undefined && { ca }),
    ...(user !== undefined && hasPassword && { login: { user, pass } }),
  };
  return { server, from, to };
}

function encryptionOf(chosen: string | undefined, port: number, hasPassword: boolean): Encryption {
  if (chosen === 'tls' || chosen === 'starttls' || chosen === 'none') return chosen;
  if (port === TLS_PORT) return 'tls';
  return hasPassword ? 'starttls' : 'offered';
}

/** TLS silently ignores an invalid authority. */
function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== '';
  } catch {
    return false;
  }
}
