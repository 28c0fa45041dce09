/**
 * `npm run security-table`: writes the table of SECURITY.md from the rows and the last recorded
 * run, both in test/security.
 * - `npm run security-table -- tests.json` first records reports of Vitest's `json` reporter as the
 *   last run.
 * - `npm run security-table -- add tests.json` adds such reports of some test files to the last run.
 * - `npm run security-table -- run` first makes such a run: every test file that names a row, in
 *   full, in three engines.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { ensureBrowser } from './lib/ensure-browser.mjs';
import { ensureFirefox } from './lib/ensure-firefox.mjs';
import { ensureWebkit } from './lib/ensure-webkit.mjs';
import { formatted } from './lib/format.mjs';
import { cache } from './lib/root.mjs';
import { run } from './lib/run.mjs';
import { condense, merge, namedRows, page, readJson, rowsFile, runFile, withTable } from './lib/security-table.mjs';

const words = process.argv.slice(2);
const isPart = words[0] === 'add';
const reports = words[0] === 'run' ? [await newRun()] : words.slice(isPart ? 1 : 0);
if (reports.length > 0) {
  const made = condense(reports.map(readJson));
  const json = JSON.stringify(isPart ? merge(readJson(runFile), made) : made);
  writeFileSync(runFile, await formatted(runFile, json));
}
writeFileSync(page, withTable(readFileSync(page, 'utf8'), readJson(rowsFile), readJson(runFile)));

/** Runs the tests and resolves to the path of their report. */
async function newRun() {
  const browsers = { ...(await ensureBrowser()), ...(await ensureFirefox()), ...(await ensureWebkit()) };
  const report = `${cache}/security-run.json`;
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  // Not the project that runs some of them once more.
  const projects = ['--project=unit', '--project=browser'];
  const words = ['vitest', 'run', ...projects, ...reporters, ...namedRows().keys()];
  await run('npx', words, { env: { ...browsers, LONG: '1' } });
  return report;
}
