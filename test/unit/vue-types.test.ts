import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

// With the latest Vue the same file is compiled beside all other tests.
test('the built types say the same with Vue 3.4', { timeout: 60_000 }, async () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const words = ['node_modules/typescript/bin/tsc', '--pretty', 'false', '-p', 'test/types/vue-3.4.json'];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: root }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});
