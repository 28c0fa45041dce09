import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { cache } from './root.mjs';
import { run } from './run.mjs';
import { say } from './say.mjs';

/** What passed and failed in one command, over all of its steps. */
export function createTally() {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const count = (name, passed) => {
    counts[passed ? 'passed' : 'failed'] += 1;
    if (!passed) console.error(`\u2717 ${name} failed`);
  };

  return {
    count,

    /** Runs the tests whose path holds one of the words, or all, and adds them up one by one. */
    async vitest(words, env) {
      say('Running the tests ...');
      const report = `${cache}/tests.json`;
      mkdirSync(cache, { recursive: true });
      rmSync(report, { force: true });
      const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
      const code = await run('npx', ['vitest', 'run', ...reporters, ...words], { env });
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
    },

    /** Prints the last line, `N passed, N failed`, and ends the process. */
    end() {
      const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
      console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
      process.exit(counts.failed === 0 ? 0 : 1);
    },
  };
}
