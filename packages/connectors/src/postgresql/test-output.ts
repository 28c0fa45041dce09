import { failed, passed } from '../_shared/connection-test/outcome.js';
import type { TesterConfig, TestOutcome } from '@connector-frame/engine/connector-api';
import { text, texts } from '../_shared/read.js';
import { findTable } from './find-table.js';
import { readOutputTarget } from './output-target.js';
import type { Query } from './session.js';
import { createPostgresqlTester } from './sign-in.js';

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
