import type { TestOutcome } from '@connector-frame/engine/connector-api';
import { failed, passed, type Failure } from '../connection-test/outcome.js';
import type { SqlSession } from './session.js';
import { planTables, type InputDialect, type TableProblem } from './table-plan.js';

/** Determines which tables an input would read, without reading any. */
export async function testTables(
  session: SqlSession,
  dialect: InputDialect,
  settings: Record<string, unknown>,
  schemas: readonly string[],
  /** Pointer to the field that selects the schemas. */
  field: string,
): Promise<TestOutcome> {
  const { tables, problems, skipped } = await planTables(session, dialect, settings, schemas);
  const [problem] = problems;
  if (problem) return described(problem);
  if (tables.length + skipped === 0) {
    return failed('forbidden', 'Signed in, but there is no table this user may read.', {
      hint: 'Grant SELECT on the tables.',
      at: field,
    });
  }
  if (tables.length === 0) {
    return failed('invalid_config', 'Signed in, but no table has a cursor column and a primary key.', {
      hint: 'List the tables with a column whose value grows with each new row.',
      at: '/settings/tables',
    });
  }
  const rest = skipped === 0 ? '' : `; ${skipped} more ${skipped === 1 ? 'has' : 'have'} no cursor column`;
  return passed(`Signed in, and may read ${tables.length === 1 ? '1 table' : `${tables.length} tables`}${rest}`);
}

function described({ index, field, code, message }: TableProblem): Failure {
  const path = index === undefined ? '/settings/tables' : `/settings/tables/${index}/${field}`;
  const sentence = message.charAt(0).toLowerCase() + message.slice(1);
  return failed(code === 'no_cursor' ? 'invalid_config' : code, `Signed in, but ${sentence}`, { at: path });
}
