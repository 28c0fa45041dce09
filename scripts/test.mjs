/**
 * `npm test`: installs what is missing, builds, checks format, lint and types, and runs every test.
 * Words after `--` go to the test runner: `npm test -- packages/core`.
 * With `LONG=1` the suites that have a long version run it, in three engines: `npm run test:long`.
 * The last line counts: `N passed, N failed`, and `N skipped`: what an engine can't do, or an engine that is not there.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { ensureBrowser } from './lib/ensure-browser.mjs';
import { ensureFirefox } from './lib/ensure-firefox.mjs';
import { ensureKcat } from './lib/ensure-kcat.mjs';
import { ensurePackages } from './lib/ensure-packages.mjs';
import { ensurePostgres } from './lib/ensure-postgres.mjs';
import { ensureRsyslog } from './lib/ensure-rsyslog.mjs';
import { ensureWebkit } from './lib/ensure-webkit.mjs';
import { build } from './lib/build.mjs';
import { cache } from './lib/root.mjs';
import { run } from './lib/run.mjs';
import { say } from './lib/say.mjs';

await ensurePackages();
const browsers = { ...(await ensureBrowser()), ...(await ensureFirefox()) };
if (process.env.LONG === '1') Object.assign(browsers, await ensureWebkit());
await ensureKcat();
await ensurePostgres();
await ensureRsyslog();

const counts = { passed: 0, failed: 0, skipped: 0 };
const count = (name, passed) => {
  counts[passed ? 'passed' : 'failed'] += 1;
  if (!passed) console.error(`\u2717 ${name} failed`);
};

const built = await build();
count('build and types', built);
const words = process.argv.slice(2);
if (words.length === 0) {
  say('Checking format and lint ...');
  const [format, lint] = await Promise.all([
    run('npx', ['prettier', '--check', '--log-level=warn', '.']),
    run('npx', ['oxlint', '--type-aware', '--quiet']),
  ]);
  count('format (npm run format mends it)', format === 0);
  count('lint', lint === 0);
}
if (built) await tests(words);

const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exit(counts.failed === 0 ? 0 : 1);

async function tests(words) {
  say('Running the tests ...');
  const report = `${cache}/tests.json`;
  mkdirSync(cache, { recursive: true });
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const code = await run('npx', ['vitest', 'run', ...reporters, ...words], { env: browsers });
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    counts.passed += numPassedTests;
    counts.failed += numFailedTests;
    counts.skipped += numPendingTests;
    // A file that could not even be loaded, or an error outside any test, is a failure too.
    if (code !== 0 && numFailedTests === 0) count(`the test run (${numFailedTestSuites} suites)`, false);
  } catch {
    count('the test run', false);
  }
}
