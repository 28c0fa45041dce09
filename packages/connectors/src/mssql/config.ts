import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import { at, text } from '../_shared/read.js';
import type { SqlTarget } from '../_shared/sql/connector.js';
import { isCertificate } from '../_shared/sql/is-certificate.js';
import type { MssqlDatabase } from './client.js';

/** Parses the configuration of the input. */
export function readInputTarget(config: TesterConfig): SqlTarget<MssqlDatabase> | Failure {
  const branch = ['ssl_method', 'encrypted_verify_certificate'];
  return readTarget(config, {
    user: 'username',
    method: text(config.settings, 'ssl_method', 'ssl_method'),
    ca: text(config.settings, ...branch, 'certificate'),
    caField: `/settings/${branch.join('/')}/certificate`,
    name: text(config.settings, ...branch, 'hostNameInCertificate'),
  });
}

/** Parses the configuration of the output. */
export const readOutputTarget = (config: TesterConfig): SqlTarget<MssqlDatabase> | Failure =>
  readTarget(config, {
    user: 'user',
    method: text(config.settings, 'ssl_method'),
    ca: text(config.settings, 'ca_certificate'),
    caField: '/settings/ca_certificate',
    name: undefined,
  });

interface Fields {
  user: string;
  method: string | undefined;
  ca: string | undefined;
  caField: string;
  name: string | undefined;
}

function readTarget(
  { settings, secrets }: TesterConfig,
  { user, method, ca, caField, name }: Fields,
): SqlTarget<MssqlDatabase> | Failure {
  if (ca !== undefined && !isCertificate(ca))
    return failed('invalid_config', 'This is not a certificate in PEM format.', { at: caField });
  const password = text(secrets, 'password') ?? '';
  return {
    database: {
      host: text(settings, 'host') ?? '',
      port: Number(at(settings, 'port') ?? 1433),
      database: text(settings, 'database') ?? '',
      user: text(settings, user) ?? '',
      password,
      encrypted: method !== 'unencrypted',
      verified: method !== 'encrypted_trust_server_certificate',
      ...(ca !== undefined && { ca }),
      ...(name !== undefined && { certificateName: name }),
    },
    subject: {
      product: 'SQL Server',
      hasPassword: password !== '',
      fields: {
        host: '/settings/host',
        user: `/settings/${user}`,
        password: '/secrets/password',
        database: '/settings/database',
      },
    },
  };
}
