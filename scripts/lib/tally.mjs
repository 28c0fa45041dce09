import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { cache, root } from './root.mjs';
import { run } from './run.mjs';
import { say } from './say.mjs';

/** Counts what passed and failed over all steps of one command. */
export function createTally() {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const count = (name, passed) => {
    counts[passed ? 'passed' : 'failed'] += 1;
    if (!passed) console.error(`\u2717 ${name} failed`);
  };

  return {
    count,

    /**
     * Runs the tests whose path contains one of the words, or all tests, and adds up the results.
     */
    async vitest(words, env) {
      say('Running the tests ...');
      const report = `${cache}/tests.json`;
      mkdirSync(cache, { recursive: true });
      rmSync(report, { force: true });
      const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
      const vitest = `${root}node_modules/vitest/vitest.mjs`;
      const code = await run(process.execPath, [vitest, 'run', ...reporters, ...words], { env });
      try {
        const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites } = JSON.parse(
          readFileSync(report, 'utf8'),
        );
        counts.passed += numPassedTests;
        counts.failed += numFailedTests;
        counts.skipped += numPendingTests;
        // A file that failed to load, or an error outside any test, counts as a failure.
        if (code !== 0 && numFailedTests === 0) count(`the test run (${numFailedTestSuites} suites)`, false);
      } catch {
        count('the test run', false);
      }
    },

    /** Prints the last line, `N passed, N failed`, and exits. */
    end() {
      const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
      console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
      process.exit(counts.failed === 0 ? 0 : 1);
    },
  };
}
