/**
 * `npm run test:long`: every test in full (`LONG=1`) in three engines, 200 kills of the whole
 * service, a dry run of a release in a fresh clone, and the mutation check, which breaks one
 * security property at a time and expects a test to detect it. Takes hours on two cores.
 * - `npm run test:long -- packages/connectors/src/ssrf`: other arguments go to the test
 *   runner, and nothing else runs.
 * - `npm run test:long -- kills`, `… -- release` and `… -- mutations` run only these steps;
 *   `… -- mutations S30 S31` runs the mutations of these properties.
 *
 * The last line of the output is the count: `N passed, N failed`.
 */
import { checkMutations } from './lib/mutation-check.mjs';
import { prepare } from './lib/prepare.mjs';
import { checkRelease } from './lib/release/check-release.mjs';
import { run } from './lib/run.mjs';
import { say } from './lib/say.mjs';
import { createTally } from './lib/tally.mjs';
import { selectTests } from './lib/test-files.mjs';

/** Read by the tests: see test/support/long.ts. */
const LONG = { LONG: '1' };
const KILLS = 200;

const steps = {
  async kills(tally) {
    say(`Killing the service ${KILLS} times ...`);
    const code = await run(process.execPath, ['packages/service/scripts/kill-loop.mjs', String(KILLS)]);
    tally.count(`${KILLS} kills (R02, R08)`, code === 0);
  },
  release: checkRelease,
  mutations: checkMutations,
};

const words = process.argv.slice(2);
const step = steps[words[0]];
const isFiltered = words.length > 0 && !step;
const { browsers, built } = await prepare({ files: isFiltered ? selectTests(words) : undefined, long: true });
const tally = createTally();
tally.count(isFiltered ? 'build' : 'build and types', built);
if (built) {
  if (step) await step(tally, browsers, words.slice(1));
  else {
    await tally.tests(words, { ...browsers, ...LONG });
    if (words.length === 0) for (const each of Object.values(steps)) await each(tally, browsers);
  }
}
tally.end();
