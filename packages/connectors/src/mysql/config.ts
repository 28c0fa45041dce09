import { X509Certificate } from 'node:crypto';
import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import { at, text } from '../_shared/read.js';
import type { SqlSubject } from '../_shared/sql/errors.js';
import type { Encryption, MysqlDatabase } from './client.js';

/** A database to sign in to, and the fields that configure it. */
export interface Target {
  database: MysqlDatabase;
  subject: SqlSubject;
}

/** Values of `ssl_mode`. https://dev.mysql.com/doc/refman/8.4/en/connection-options.html#option_general_ssl-mode */
const modes: Readonly<Record<string, Encryption>> = {
  preferred: { mode: 'preferred', verify: 'nothing' },
  required: { mode: 'always', verify: 'nothing' },
  verify_ca: { mode: 'always', verify: 'authority' },
  verify_identity: { mode: 'always', verify: 'identity' },
};

/** Parses the configuration of the input. */
export const readInputTarget = (config: TesterConfig): Target | Failure =>
  readTarget(config, modes[text(config.settings, 'ssl_mode') ?? 'required'] ?? { mode: 'always', verify: 'identity' });

/** Parses the configuration of the output. */
export const readOutputTarget = (config: TesterConfig): Target | Failure =>
  readTarget(
    config,
    at(config.settings, 'ssl') === false ? { mode: 'off', verify: 'nothing' } : { mode: 'always', verify: 'identity' },
  );

function readTarget({ settings, secrets }: TesterConfig, encryption: Encryption): Target | Failure {
  const ca = text(settings, 'ca_certificate');
  if (ca !== undefined && !isCertificate(ca))
    return failed('invalid_config', 'This is not a certificate in PEM format.', { at: '/settings/ca_certificate' });
  const password = text(secrets, 'password') ?? '';
  return {
    database: {
      host: text(settings, 'host') ?? '',
      port: Number(at(settings, 'port') ?? 3306),
      database: text(settings, 'database') ?? '',
      user: text(settings, 'username') ?? '',
      password,
      encryption: { ...encryption, ...(ca !== undefined && { ca }) },
    },
    subject: {
      product: 'MySQL',
      hasPassword: password !== '',
      fields: {
        host: '/settings/host',
        user: '/settings/username',
        password: '/secrets/password',
        database: '/settings/database',
      },
    },
  };
}

/** TLS silently ignores an invalid CA. */
function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== '';
  } catch {
    return false;
  }
}
