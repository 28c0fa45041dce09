import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';
import type { Database } from './client.js';
import { preferTls, readEncryption } from './encryption.js';

/** A database to sign in to, and the JSON Pointers of the fields that configure it. */
export interface Target {
  database: Database;
  fields: { host: string; user: string; password: string; database: string };
}

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

const CONNECTION_STRING = '/secrets/connection_string';

/** Parses the target database from the output's configuration or its connection string. */
export function readOutputTarget({ settings, secrets }: TesterConfig): Target | Failure {
  const whole = text(secrets, 'connection_string');
  if (whole !== undefined) return readConnectionString(whole);
  return {
    database: {
      host: text(settings, 'host') ?? '',
      port: Number(at(settings, 'port') ?? 5432),
      database: text(settings, 'database') ?? '',
      user: text(settings, 'user') ?? '',
      password: text(secrets, 'password') ?? '',
      encryption: preferTls,
    },
    fields: {
      host: '/settings/host',
      user: '/settings/user',
      password: '/secrets/password',
      database: '/settings/database',
    },
  };
}

/**
 * Parses the string without pg's own parser, which would read local files for `sslcert` and similar
 * parameters.
 */
function readConnectionString(whole: string): Target | Failure {
  const unreadable = failed('invalid_config', 'This is not a valid connection string.', {
    hint: 'It looks like postgresql://user:password@host:5432/database.',
    at: CONNECTION_STRING,
  });
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url?.protocol !== 'postgres:' && url?.protocol !== 'postgresql:') return unreadable;
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  if (user === undefined || password === undefined || database === undefined || !url.hostname) return unreadable;
  const mode = url.searchParams.get('sslmode') ?? 'prefer';
  if (mode.startsWith('verify-')) {
    return failed('unsupported', 'A connection string with sslmode verify-ca or verify-full is not supported.', {
      at: CONNECTION_STRING,
    });
  }
  const encryption = readEncryption({ ssl_mode: { mode } }, {});
  if ('ok' in encryption) return encryption;
  return {
    database: {
      host: url.hostname,
      port: Number(url.port || 5432),
      database: database || user,
      user,
      password,
      encryption,
    },
    fields: {
      host: CONNECTION_STRING,
      user: CONNECTION_STRING,
      password: CONNECTION_STRING,
      database: CONNECTION_STRING,
    },
  };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
