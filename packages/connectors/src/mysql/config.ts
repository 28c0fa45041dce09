import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import { at, text } from '../_shared/read.js';
import type { SqlTarget } from '../_shared/sql/connector.js';
import { isCertificate } from '../_shared/sql/is-certificate.js';
import type { Encryption, MysqlDatabase } from './client.js';

/** Values of `ssl_mode`. https://dev.mysql.com/doc/refman/8.4/en/connection-options.html#option_general_ssl-mode */
const modes: Readonly<Record<string, Encryption>> = {
  preferred: { mode: 'preferred', verify: 'nothing' },
  required: { mode: 'always', verify: 'nothing' },
  verify_ca: { mode: 'always', verify: 'authority' },
  verify_identity: { mode: 'always', verify: 'identity' },
};

/** Parses the configuration of the input. */
export const readInputTarget = (config: TesterConfig): SqlTarget<MysqlDatabase> | Failure =>
  readTarget(config, modes[text(config.settings, 'ssl_mode') ?? 'required'] ?? { mode: 'always', verify: 'identity' });

/** Parses the configuration of the output. */
export const readOutputTarget = (config: TesterConfig): SqlTarget<MysqlDatabase> | Failure =>
  readTarget(
    config,
    at(config.settings, 'ssl') === false ? { mode: 'off', verify: 'nothing' } : { mode: 'always', verify: 'identity' },
  );

function readTarget({ settings, secrets }: TesterConfig, encryption: Encryption): SqlTarget<MysqlDatabase> | Failure {
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
