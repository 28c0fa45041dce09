import { readFileSync } from 'node:fs';
import { root } from './root.mjs';
import { testFiles } from './test-files.mjs';

/**
 * The rows: properties that must hold, each with an ID that test titles refer to. `page`: an attack
 * by a page, which runs in every engine.
 */
export const rowsFile = `${root}test/security/rows.json`;
/** Result of the last recorded test run for each row. */
export const runFile = `${root}test/security/run.json`;
/** Path of the page that contains the table. */
export const page = `${root}SECURITY.md`;

const id = /\b[SR]\d{2}\b/g;
const begin =
  '<!-- security table: written by npm run security-table from test/security. Changes by hand are lost. -->';
const end = '<!-- end of the security table -->';

/** Returns the row IDs in a title. */
export const idsIn = (title) => [...new Set(title.match(id) ?? [])];

/** Excluded, because it tests this module with invented titles. */
const notOne = 'test/unit/security-table.test.ts';

/** Returns the row IDs in the titles of each test file that has any. */
export function namedRows() {
  const files = testFiles().filter((file) => file !== notOne);
  const named = files.map((file) => [file, new Set(titlesIn(readFileSync(root + file, 'utf8')).flatMap(idsIn))]);
  return new Map(named.filter(([, ids]) => ids.size > 0));
}

/** Returns the titles in the source of a test file that name a row. */
export function titlesIn(source) {
  const code = source.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  return [...code.matchAll(/(['"`])((?:\\.|(?!\1)[^\\\n])*)\1,/g)]
    .map(([, , title]) => title)
    .filter((title) => idsIn(title).length > 0);
}

/**
 * Condenses reports of Vitest's `json` reporter to the result of each row. By file: the titles that
 * name the row, the engines, and how many tests passed, failed or did not run.
 * @param reports parsed reports
 */
export function condense(reports) {
  const rows = {};
  for (const { testResults } of reports) {
    for (const { name, assertionResults } of testResults) {
      const file = name.slice(root.length).replaceAll('\\', '/');
      if (file === notOne) continue;
      for (const { ancestorTitles, title, status } of assertionResults) {
        const path = [...ancestorTitles, title];
        for (const row of new Set(path.flatMap(idsIn))) note(entryOf(rows, row, file), path, row, status, file);
      }
    }
  }
  const date = new Date(Math.max(...reports.map(({ startTime }) => startTime))).toISOString().slice(0, 10);
  return { date, rows: Object.fromEntries(Object.entries(rows).sort(byKey)) };
}

/**
 * Adds a run of some test files to the recorded one. What it replaces are the results of these files;
 * they keep their own date.
 */
export function merge(run, part) {
  const files = new Set(Object.values(part.rows).flatMap((entries) => entries.map(({ file }) => file)));
  const dated = part.date === run.date ? {} : { date: part.date };
  const rows = {};
  for (const id of new Set([...Object.keys(run.rows), ...Object.keys(part.rows)])) {
    const kept = (run.rows[id] ?? []).filter(({ file }) => !files.has(file));
    const added = (part.rows[id] ?? []).map((entry) => ({ ...entry, ...dated }));
    const entries = [...kept, ...added];
    if (entries.length > 0) rows[id] = entries;
  }
  return { date: run.date, rows: Object.fromEntries(Object.entries(rows).sort(byKey)) };
}

const byKey = ([one], [other]) => (one < other ? -1 : 1);

function entryOf(rows, row, file) {
  const entries = (rows[row] ??= []);
  const found = entries.find((entry) => entry.file === file);
  if (found) return found;
  const entry = { file, titles: [], engines: [], passed: 0, failed: 0, skipped: 0, reasons: [] };
  entries.push(entry);
  return entry;
}

function note(entry, path, row, status, file) {
  const words = path.join(' ');
  const engine = / in (Chromium|Firefox|WebKit)\b/.exec(words)?.[1] ?? (file.startsWith('test/browser/') && 'Chromium');
  const outcome = { passed: 'passed', failed: 'failed' }[status] ?? 'skipped';
  entry[outcome] += 1;
  if (outcome === 'skipped') {
    const reason = /\[skipped: (.*)\]$/.exec(words)?.[1];
    if (reason) entry.reasons = unique([...entry.reasons, `${engine}: ${reason}`]);
    return;
  }
  if (engine) entry.engines = unique([...entry.engines, engine]);
  const title = path.find((one) => idsIn(one).includes(row)) ?? '';
  entry.titles = unique([...entry.titles, plain(title)]);
}

/** Removes the IDs and the engine from a title. */
const plain = (title) =>
  title
    .replace(/ in (Chromium|Firefox|WebKit)$/, '')
    .replace(/^[SR]\d{2}(, [SR]\d{2})*: /, '')
    .replace(/ \([SR]\d{2}(, [SR]\d{2})*(; [^)]*)?\)/, '');

/** Returns the page with its table replaced. */
export function withTable(markdown, rows, run) {
  const [before, after] = [markdown.indexOf(begin), markdown.indexOf(end)];
  if (before < 0 || after < 0) throw new Error(`${page} lacks the comments around the table`);
  return markdown.slice(0, before) + table(rows, run) + markdown.slice(after);
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const MOST_TITLES = 4;

function table(rows, run) {
  const lines = rows.map(({ id, property }) => {
    const entries = run.rows[id] ?? [];
    const named = unique(entries.flatMap((entry) => entry.engines));
    const engines = entries.some((entry) => entry.engines.length === 0) ? [...named, 'Node'] : named;
    const shown = entries.map(shownBy).join('<br>') || 'no test in the run';
    return `| ${[id, cell(property), shown, engines.join(', '), resultOf(entries)].join(' | ')} |`;
  });
  return `${begin}
<!-- prettier-ignore-start -->

Run of ${run.date}. Test titles contain the ID of their row. Tests that an engine cannot run are skipped with a reason.

| Row | Property | Tests | Engines | Result |
| --- | --- | --- | --- | --- |
${lines.join('\n')}

<!-- prettier-ignore-end -->
`;
}

function shownBy({ file, titles }) {
  const name = file.replace(/^.*\//, '').replace(/\.test\.tsx?$/, '');
  const few = titles.slice(0, MOST_TITLES).map(cell).join('; ');
  const more = titles.length > MOST_TITLES ? `; and ${titles.length - MOST_TITLES} more` : '';
  return `[${name}](${file}): ${few}${more}`;
}

function resultOf(entries) {
  const sum = (key) => entries.reduce((total, entry) => total + entry[key], 0);
  if (entries.length === 0) return '';
  const failed = sum('failed') > 0 ? [`**${sum('failed')} failed**`] : [];
  const skipped = sum('skipped') > 0 ? [`${sum('skipped')} skipped`] : [];
  const reasons = unique(entries.flatMap((entry) => entry.reasons));
  const dates = unique(entries.flatMap(({ date }) => date ?? []));
  const dated = dates.length > 0 ? [`in part on ${dates.join(', ')}`] : [];
  return [[...failed, `${sum('passed')} passed`, ...skipped, ...dated].join(', '), ...reasons.map(cell)].join('<br>');
}

const unique = (texts) => [...new Set(texts)].sort((one, other) => (one < other ? -1 : 1));

export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
