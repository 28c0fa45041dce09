import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('tests of a missing program are skipped with its name, and others run', () => {
  const files = ['packages/connectors/src/monad-syslog/rsyslog.test.ts', 'monad-syslog/parse-message.test.ts'];
  const printed = execFileSync(
    process.execPath,
    [`${root}node_modules/vitest/vitest.mjs`, 'run', '--project=unit', '--reporter=verbose', ...files],
    { cwd: root, env: { ...process.env, MISSING_PROGRAMS: 'rsyslog', NO_COLOR: '1' }, encoding: 'utf8' },
  );
  expect(printed).toMatch(/↓ .*rsyslog\.test\.ts.* \[rsyslog is missing\]/);
  expect(printed).not.toMatch(/✓ .*rsyslog\.test\.ts/);
  expect(printed).toMatch(/✓ .*parse-message\.test\.ts/);
});
