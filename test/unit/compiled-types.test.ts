import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/**
 * Projects that can't be compiled together with the other tests; they use the built types. Vue's
 * file for the latest Vue is among the other tests.
 */
test.each([
  ['with Vue 3.4 the types say the same', 'vue-3.4.json'],
  ['ids and fields are checked once a project lets the compiler know the catalog', 'connector-types.json'],
])('%s', { timeout: 60_000 }, async (_, project) => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const words = ['node_modules/typescript/bin/tsc', '--pretty', 'false', '-p', `test/types/${project}`];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: root }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});
