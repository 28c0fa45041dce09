import type { KeyPath } from '../../connector-api/key-path.js';
import { explainRefusal, guardProgram } from './guard-program.js';
import { jqLanes } from './jq-pool.js';

/**
 * Compiles a program and returns what is wrong with it in one sentence, or `undefined` if it is
 * valid.
 * @throws {ConnectorError} `jq`: jq can't be started
 */
export async function checkProgram(query: string, path?: KeyPath): Promise<string | undefined> {
  const ran = await jqLanes.fresh.run({ program: guardProgram(query, path), lines: [], sliceMs: 0 });
  if (ran.kind === 'gone') return 'It takes too long to compile.';
  return ran.answer.invalid === undefined ? undefined : explainRefusal(ran.answer.invalid);
}
