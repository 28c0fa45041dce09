import type { TestOutcome } from '@connector-frame/engine/connector-api';
import { passed } from '../connection-test/outcome.js';
import type { SqlSession } from './session.js';
import { readColumns, type OutputDialect } from './table-output.js';

/** Looks up the table of an output, without writing. */
export async function testTable(
  session: SqlSession,
  dialect: OutputDialect,
  schema: string,
  table: string,
): Promise<TestOutcome> {
  const columns = await readColumns(session, dialect, schema, table);
  if (columns.length > 0) return passed('Signed in, and found the table');
  return passed('Signed in. The table does not exist yet; it is created with the first records');
}
