import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';
import { preferTls, readEncryption } from './encryption.js';
import type { Target } from './sign-in.js';

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
  const unreadable = failed('invalid_config', 'This is not a connection string we can read.', {
    hint: 'It looks like postgresql://user:password@host:5432/database.',
    at: CONNECTION_STRING,
  });
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url?.protocol !== 'postgres:' && url?.protocol !== 'postgresql:') return unreadable;
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  if (user === undefined || password === undefined || database === undefined || !url.hostname) return unreadable;
  const mode = url.searchParams.get('sslmode') ?? 'prefer';
  if (mode.startsWith('verify-')) {
    return failed('unsupported', 'A connection string that brings its own certificate can not be used.', {
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
