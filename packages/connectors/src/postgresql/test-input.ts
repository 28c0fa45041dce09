import { isRecord, type TesterConfig, type TestOutcome } from '@connector-frame/engine/connector-api';
import { failed, passed, type Failure } from '../_shared/connection-test/outcome.js';
import { at, texts } from '../_shared/read.js';
import { planInput, type TableProblem } from './input-plan.js';
import { readInputTarget } from './input-target.js';
import type { Query } from './session.js';
import { createPostgresqlTester } from './sign-in.js';

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
  const { tables, problems, passedOver } = await planInput(query, settings);
  const [problem] = problems;
  if (problem) return described(problem);
  if (tables.length + passedOver.length === 0) {
    return failed('forbidden', 'Signed in, but there is no table this user may read.', {
      hint: 'Grant USAGE on the schema and SELECT on its tables.',
      at: '/settings/schemas',
    });
  }
  if (tables.length === 0) {
    return failed('invalid_config', 'Signed in, but no table has a column to go by.', {
      hint: 'List the tables with the column that grows with each new row.',
      at: '/settings/tables',
    });
  }
  const { length } = passedOver;
  const rest = length === 0 ? '' : `; ${length} more ${length === 1 ? 'has' : 'have'} no column to go by`;
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
