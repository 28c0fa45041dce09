import {
  EgressError,
  type Tester,
  type TesterConfig,
  type TestOutcome,
  isRecord,
} from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { unreachable } from '../_shared/connection-test/failures.js';
import { failed, missing, type Failure, passed } from '../_shared/connection-test/outcome.js';
import { QueryError, WRONG_PASSWORD, withSession, type Query } from './client.js';
import { at, texts, text } from '../_shared/read.js';
import { planInput, type TableProblem } from './input-plan.js';
import { readInputTarget, readOutputTarget, type Target } from './config.js';
import { findTable } from './find-table.js';

const postgresql = { product: 'PostgreSQL' };

/** Creates a tester that parses the configuration with `read`, signs in and runs `check`. */
function createPostgresqlTester(
  read: (config: TesterConfig) => Target | Failure,
  check: (query: Query, config: TesterConfig) => Promise<TestOutcome>,
): Tester {
  return createTester(postgresql, async (config, { egress, signal }) => {
    const target = read(config);
    if ('ok' in target) return target;
    try {
      return await withSession(target.database, egress, signal, (query) => check(query, config));
    } catch (error) {
      if (error instanceof QueryError) return failureOfState(error.state, target);
      if (error instanceof EgressError)
        return unreachable(error.reason, { ...postgresql, address: target.fields.host });
      throw error;
    }
  });
}

/**
 * Converts an SQLSTATE to a failure. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function failureOfState(state: string, { database, fields }: Target): Failure {
  switch (state) {
    case WRONG_PASSWORD:
      if (database.password === '') return missing(fields.password, 'The server asks for a password.');
      return failed('invalid_credentials', 'PostgreSQL did not accept the user name and password.', {
        at: [fields.user, fields.password],
      });
    case '28000':
      return failed('forbidden', 'PostgreSQL does not allow this user to connect from here.', {
        hint: 'Check the user name, and the rules of the server for this network, database and encryption (pg_hba.conf).',
        at: fields.user,
      });
    case '3D000':
      return failed('not_found', 'There is no database by this name.', { at: fields.database });
    case '42501':
      return failed('forbidden', 'This user may not connect to the database.', { at: [fields.user, fields.database] });
    case '53300':
      return failed('rate_limited', 'PostgreSQL has reached its connection limit.', { hint: 'Try again in a minute.' });
    case '57P03':
      return failed('upstream_error', 'PostgreSQL is starting or stopping.', { hint: 'Try again in a minute.' });
    default:
      return failed('rejected', 'PostgreSQL refused the request.');
  }
}

/**
 * Signs in and determines which tables the input would read: those listed, otherwise all tables of
 * the chosen schemas or of `public`.
 */
export const testPostgresqlInput = createPostgresqlTester(readInputTarget, countTables);

const existing = `SELECT nspname AS name FROM pg_namespace WHERE nspname = ANY($1)`;

async function countTables(query: Query, { settings }: TesterConfig): Promise<TestOutcome> {
  const listed = at(settings, 'tables');
  const byName = Array.isArray(listed) && listed.filter(isRecord).length > 0;
  const absent = byName ? [] : await absentSchemas(query, texts(settings, 'schemas'));
  if (absent.length > 0) return failed('not_found', 'There is no schema by this name.', { at: absent });
  const { tables, problems, skipped } = await planInput(query, settings);
  const [problem] = problems;
  if (problem) return described(problem);
  if (tables.length + skipped.length === 0) {
    return failed('forbidden', 'Signed in, but there is no table this user may read.', {
      hint: 'Grant USAGE on the schema and SELECT on its tables.',
      at: '/settings/schemas',
    });
  }
  if (tables.length === 0) {
    return failed('invalid_config', 'Signed in, but no table has a cursor column.', {
      hint: 'List the tables with a column whose value grows with each new row.',
      at: '/settings/tables',
    });
  }
  const { length } = skipped;
  const rest = length === 0 ? '' : `; ${length} more ${length === 1 ? 'has' : 'have'} no cursor column`;
  return passed(`Signed in, and may read ${tables.length === 1 ? '1 table' : `${tables.length} tables`}${rest}`);
}

async function absentSchemas(query: Query, chosen: readonly string[]): Promise<string[]> {
  const schemas = chosen.length > 0 ? chosen : ['public'];
  const found = new Set((await query(existing, [schemas])).map((row) => row['name']));
  return schemas.flatMap((schema, index) =>
    found.has(schema) ? [] : [chosen.length > 0 ? `/settings/schemas/${index}` : '/settings/schemas'],
  );
}

function described({ index, field, code, message }: TableProblem): Failure {
  const path = index === undefined ? '/settings/tables' : `/settings/tables/${index}/${field}`;
  const hint = code === 'forbidden' ? 'Grant USAGE on the schema and SELECT on the table.' : undefined;
  return failed(code === 'no_cursor' ? 'invalid_config' : code, `Signed in, but ${lower(message)}`, {
    ...(hint && { hint }),
    at: path,
  });
}

const lower = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);

/** Signs in and checks the table, its columns and the INSERT privilege; inserts nothing. */
export const testPostgresqlOutput = createPostgresqlTester(readOutputTarget, checkTable);

const table = `
  SELECT oid::text AS id, has_any_column_privilege(oid, 'INSERT') AS allowed
  FROM pg_class WHERE oid = to_regclass($1) AND relkind IN ('r', 'p', 'v', 'f')`;

const columns = `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped`;

async function checkTable(query: Query, { settings }: TesterConfig): Promise<TestOutcome> {
  const row = await findTable(query, table, text(settings, 'table') ?? '');
  if (!row) {
    return failed('not_found', 'Signed in, but there is no table by this name.', {
      hint: 'Enter schema.table if it is not in the search path of this user.',
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
