import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';
import { readEncryption } from './encryption.js';
import type { Target } from './sign-in.js';

/** Parses the target database from the input's configuration. */
export function readInputTarget({ settings, secrets }: TesterConfig): Target | Failure {
  if (at(settings, 'entra_service_principal_auth') === true) {
    return failed('unsupported', 'Signing in with a Microsoft Entra service principal is not supported yet.', {
      hint: 'Use a user with a password.',
      at: '/settings/entra_service_principal_auth',
    });
  }
  const encryption = readEncryption(settings, secrets);
  if ('ok' in encryption) return encryption;
  return {
    database: {
      host: text(settings, 'host') ?? '',
      port: Number(at(settings, 'port') ?? 5432),
      database: text(settings, 'database') ?? '',
      user: text(settings, 'username') ?? '',
      password: text(secrets, 'password') ?? '',
      encryption,
    },
    fields: {
      host: '/settings/host',
      user: '/settings/username',
      password: '/secrets/password',
      database: '/settings/database',
    },
  };
}
