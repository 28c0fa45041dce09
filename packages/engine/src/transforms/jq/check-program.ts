import type { KeyPath } from '../../connector-api/key-path.js';
import { explainCompileError, guardProgram } from './guard-program.js';
import { jqPools } from './jq-pool.js';

/**
 * Compiles a program and returns what is wrong with it in one sentence, or `undefined` if it is
 * valid.
 * @throws {ConnectorError} `jq`: jq can't be started
 */
export async function checkProgram(query: string, path?: KeyPath): Promise<string | undefined> {
  const ran = await jqPools.fresh.run({ program: guardProgram(query, path), lines: [], sliceMs: 0 });
  if (ran.kind === 'failed') return 'It takes too long to compile.';
  return ran.response.invalid === undefined ? undefined : explainCompileError(ran.response.invalid);
}
