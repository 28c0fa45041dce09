/**
 * `npm test`: installs what is missing, builds, checks format, lint and types, and runs every test.
 * Arguments after `--` go to the test runner: `npm test -- packages/core`. Then only what these
 * tests need is installed and built, and nothing else is checked. Without arguments, tests in browsers
 * run in parts, another one each day.
 *
 * The last line of the output is the count: `N passed, N failed`, and `N skipped` for tests that an
 * engine does not support, whose engine is missing, or that run on another day.
 */
import { prepare } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';
import { say } from './lib/say.mjs';
import { createTally } from './lib/tally.mjs';
import { selectTests } from './lib/test-files.mjs';

const words = process.argv.slice(2);
const isFiltered = words.length > 0;
const { browsers, built } = await prepare({ files: isFiltered ? selectTests(words) : undefined });
const tally = createTally();
tally.count(isFiltered ? 'build' : 'build and types', built);
if (!isFiltered) {
  say('Checking format and lint ...');
  const [format, lint, prose] = await Promise.all([
    run('npx', ['oxfmt', '--list-different']),
    run('npx', ['oxlint', '--type-aware', '--quiet']),
    run('node', ['scripts/lint/texts.mjs']),
  ]);
  tally.count('format (npm run format fixes it)', format === 0);
  tally.count('lint', lint === 0);
  tally.count('wording of the documentation', prose === 0);
}
// Read by test/support/daily-files.ts.
if (built) await tally.tests(words, { ...browsers, ...(!isFiltered && { DAILY_PART: '1' }) });
tally.end();
