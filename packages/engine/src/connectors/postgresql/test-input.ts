import { failed, passed } from '../connection-test/outcome.js';
import { at, text, texts } from '../read.js';
import type { TesterConfig, TestOutcome } from '../connection-test/tester.js';
import { readEncryption } from './encryption.js';
import type { Query } from './session.js';
import { createPostgresqlTester, type Target } from './sign-in.js';

/** Signs in and counts the tables it may read in the chosen schemas, or in `public`. */
export const testPostgresqlInput = createPostgresqlTester(readTarget, countTables);

function readTarget({ settings, secrets }: TesterConfig): Target | ReturnType<typeof failed> {
  if (at(settings, 'entra_service_principal_auth') === true) {
    return failed('unsupported', 'Signing in with a Microsoft Entra service principal can not be tested yet.', {
      hint: 'Save the connector without a test.',
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

const existing = `SELECT nspname AS name FROM pg_namespace WHERE nspname = ANY($1)`;

const readable = `
  SELECT count(*)::int AS tables
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname = ANY($1)
    AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')`;

async function countTables(query: Query, { settings }: TesterConfig): Promise<TestOutcome> {
  const chosen = texts(settings, 'schemas');
  const schemas = chosen.length > 0 ? chosen : ['public'];
  const found = new Set((await query(existing, [schemas])).map((row) => row['name']));
  const absent = schemas.flatMap((schema, index) =>
    found.has(schema) ? [] : [chosen.length > 0 ? `/settings/schemas/${index}` : '/settings/schemas'],
  );
  if (absent.length > 0) return failed('not_found', 'There is no schema by this name.', { at: absent });
  const [row] = await query(readable, [schemas]);
  const tables = Number(row?.['tables'] ?? 0);
  if (tables === 0) {
    return failed('forbidden', 'Signed in, but there is no table this user may read.', {
      hint: 'Grant USAGE on the schema and SELECT on its tables.',
      at: '/settings/schemas',
    });
  }
  return passed(tables === 1 ? 'Signed in, and may read 1 table' : `Signed in, and may read ${tables} tables`);
}
