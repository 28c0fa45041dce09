import { failed, passed, type Failure } from '../connection-test/outcome.js';
import { at, text, texts } from '../read.js';
import type { TesterConfig, TestOutcome } from '../connection-test/tester.js';
import { preferTls, readEncryption } from './encryption.js';
import { Refusal, type Query } from './session.js';
import { createPostgresqlTester, type Target } from './sign-in.js';

const CONNECTION_STRING = '/secrets/connection_string';

/** Signs in and asks for the table, its columns and the right to insert; inserts nothing. */
export const testPostgresqlOutput = createPostgresqlTester(readTarget, checkTable);

function readTarget({ settings, secrets }: TesterConfig): Target | Failure {
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

/** By hand: pg's own parser would read files of this machine for `sslcert` and its like. */
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
    return failed('unsupported', 'A connection string that brings its own certificate can not be tested.', {
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

const table = `
  SELECT oid::text AS id, has_any_column_privilege(oid, 'INSERT') AS allowed
  FROM pg_class WHERE oid = to_regclass($1) AND relkind IN ('r', 'p', 'v', 'f')`;

const columns = `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped`;

/** A name as SQL reads it, `schema.table`, else as it is written. */
async function findTable(query: Query, name: string): Promise<Record<string, unknown> | undefined> {
  for (const each of [name, `"${name.replaceAll('"', '""')}"`]) {
    const [row] = await query(table, [each]).catch((error: unknown) => {
      // Not a name by SQL's syntax.
      if (error instanceof Refusal) return [];
      throw error;
    });
    if (row) return row;
  }
  return undefined;
}

async function checkTable(query: Query, { settings }: TesterConfig): Promise<TestOutcome> {
  const row = await findTable(query, text(settings, 'table') ?? '');
  if (!row) {
    return failed('not_found', 'Signed in, but there is no table by this name.', {
      hint: 'Write schema.table when it is not in the search path of this user.',
      at: '/settings/table',
    });
  }
  if (row['allowed'] !== true) {
    return failed('forbidden', 'Signed in, but this user may not insert into the table.', {
      hint: 'Grant INSERT on it.',
      at: '/settings/table',
    });
  }
  const known = new Set((await query(columns, [row['id']])).map((column) => column['name']));
  const absent = texts(settings, 'column_names').flatMap((column, index) =>
    known.has(column) ? [] : [`/settings/column_names/${index}`],
  );
  if (absent.length > 0) return failed('not_found', 'The table has no column by this name.', { at: absent });
  return passed('Signed in, and may insert into the table');
}
