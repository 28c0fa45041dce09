import { mkdirSync, writeFileSync } from 'node:fs';
import { cache } from './root.mjs';

/** Counts of the last run of Web Test Runner, for `npm test`. */
export const elementsReport = `${cache}/elements.json`;

/**
 * Writes the number of passed, failed and skipped tests to `elementsReport`, over all browsers.
 * @param missing browsers that were not found; their tests count as skipped
 */
export function elementsReporter({ missing }) {
  return {
    onTestRunFinished({ sessions }) {
      const counts = { passed: 0, failed: 0, skipped: 0 };
      const browsers = new Set(sessions.map(({ browser }) => browser.name)).size;
      for (const { testResults, errors } of sessions) {
        if (testResults) count(testResults, counts);
        // A file that does not load, or an error outside any test.
        if (errors.length > 0 || !testResults) counts.failed += 1;
      }
      const each = (counts.passed + counts.failed + counts.skipped) / browsers;
      for (const name of missing) console.log(`Skipped in ${name}, which is missing: ${each} tests`);
      counts.skipped += missing.length * each;
      mkdirSync(cache, { recursive: true });
      writeFileSync(elementsReport, JSON.stringify(counts));
    },
  };
}

function count({ suites, tests }, counts) {
  for (const { skipped, passed } of tests) counts[skipped ? 'skipped' : passed ? 'passed' : 'failed'] += 1;
  for (const suite of suites) count(suite, counts);
}
