import type { KeyPath } from '../../conditions/key-path.js';
import { explainRefusal, guardProgram } from './guard-program.js';
import { jqLanes } from './jq-pool.js';

/** What is wrong with a program, in a sentence; `undefined`: it compiles. @throws EndError `jq`: it can't be started */
export async function checkProgram(query: string, path?: KeyPath): Promise<string | undefined> {
  const ran = await jqLanes.fresh.run({ program: guardProgram(query, path), lines: [], sliceMs: 0 });
  if (ran.kind === 'gone') return 'It takes too long to compile.';
  return ran.answer.invalid === undefined ? undefined : explainRefusal(ran.answer.invalid);
}
