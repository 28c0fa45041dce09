import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { elementsReport } from './elements-reporter.mjs';
import { cache, root } from './root.mjs';
import { run } from './run.mjs';
import { say } from './say.mjs';
import { isElementTest, selectTests } from './test-files.mjs';

/** Counts what passed and failed over all steps of one command. */
export function createTally() {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const count = (name, passed) => {
    counts[passed ? 'passed' : 'failed'] += 1;
    if (!passed) console.error(`\u2717 ${name} failed`);
  };

  const tally = {
    count,

    /**
     * Runs the tests that the arguments select, in the runner of each. Options are those of Vitest,
     * so with one, only Vitest runs.
     */
    async tests(words, env) {
      const files = selectTests(words);
      const elements = words.some((word) => word.startsWith('-')) ? [] : files.filter(isElementTest);
      if (elements.length > 0) await tally.elements(elements, env);
      if (elements.length < files.length || files.length === 0) await tally.vitest(words, env);
    },

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
        if (env.MISSING_PROGRAMS) say(`Their tests were skipped, as they are missing: ${env.MISSING_PROGRAMS}`);
        // A file that failed to load, or an error outside any test, counts as a failure.
        if (code !== 0 && numFailedTests === 0) count(`the test run (${numFailedTestSuites} suites)`, false);
      } catch {
        count('the test run', false);
      }
    },

    /** Runs component tests in the browsers, and adds up the results. */
    async elements(files, env) {
      say('Running the component tests ...');
      rmSync(elementsReport, { force: true });
      const runner = `${root}node_modules/@web/test-runner/dist/bin.js`;
      const code = await run(process.execPath, [runner], { env: { ...env, ELEMENT_TESTS: files.join() } });
      try {
        const { passed, failed, skipped } = JSON.parse(readFileSync(elementsReport, 'utf8'));
        counts.passed += passed;
        counts.failed += failed;
        counts.skipped += skipped;
        if (code !== 0 && failed === 0) count('the run of the component tests', false);
      } catch {
        count('the run of the component tests', false);
      }
    },

    /** Prints the last line, `N passed, N failed`, and exits. */
    end() {
      const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
      console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
      process.exit(counts.failed === 0 ? 0 : 1);
    },
  };
  return tally;
}
