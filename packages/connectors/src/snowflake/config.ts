import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { failed, missing, type Failure } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';

/** How to sign in. */
export type SnowflakeSignIn =
  /** A JWT for the user's public key. */
  | { kind: 'key'; key: KeyObject; issuer: string; subject: string }
  /** A programmatic access token, which is entered as the password. */
  | { kind: 'token'; token: string };

export interface SnowflakeTarget {
  /** `https://acme-prod.snowflakecomputing.com` */
  origin: string;
  signIn: SnowflakeSignIn;
  role: string | undefined;
  warehouse: string | undefined;
  database: string;
  schema: string;
}

const KEY = '/secrets/private_key';

/** Parses the fields that all Snowflake types have. */
export function readSnowflake({ settings, secrets }: TesterConfig): SnowflakeTarget | Failure {
  const account = text(settings, 'account') ?? '';
  const signIn =
    text(settings, 'auth_type') === 'password'
      ? readToken(text(secrets, 'password'))
      : readKey(text(secrets, 'private_key'), account, text(settings, 'user') ?? '');
  if ('ok' in signIn) return signIn;
  return {
    // Host names have no underscores: Snowflake serves an account with hyphens instead.
    origin: `https://${account.toLowerCase().replaceAll('_', '-')}.snowflakecomputing.com`,
    signIn,
    role: text(settings, 'role'),
    warehouse: text(settings, 'warehouse'),
    database: text(settings, 'database') ?? '',
    schema: text(settings, 'schema') ?? '',
  };
}

function readToken(token: string | undefined): SnowflakeSignIn | Failure {
  if (token === undefined) return missing('/secrets/password', 'Enter the password.');
  return { kind: 'token', token };
}

/** https://docs.snowflake.com/en/developer-guide/sql-api/authenticating#using-key-pair-authentication */
function readKey(pem: string | undefined, account: string, user: string): SnowflakeSignIn | Failure {
  if (pem === undefined) return missing(KEY, 'Enter the private key.');
  if (/-----BEGIN (?:RSA )?PUBLIC KEY-----/.test(pem)) {
    return failed('invalid_config', 'This is the public key. Paste the private key that belongs to it.', {
      hint: 'Only the public key is set in Snowflake; the file of the private key begins with BEGIN PRIVATE KEY.',
      at: KEY,
    });
  }
  if (/-----BEGIN CERTIFICATE-----/.test(pem))
    return failed('invalid_config', 'This is a certificate. Paste the private key.', { at: KEY });
  if (/ENCRYPTED/.test(pem)) {
    return failed('invalid_config', 'This private key is encrypted. Paste one without a passphrase.', { at: KEY });
  }
  const key = parseKey(pem);
  if (key?.asymmetricKeyType !== 'rsa')
    return failed('invalid_config', 'This is not an RSA private key in PEM format.', { at: KEY });
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const fingerprint = createHash('sha256').update(der).digest('base64');
  // Without the region that may follow the account locator.
  const subject = `${account.split('.')[0] ?? ''}.${user}`.toUpperCase();
  return { kind: 'key', key, issuer: `${subject}.SHA256:${fingerprint}`, subject };
}

function parseKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
