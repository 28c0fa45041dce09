import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Row {
  id: string;
  property: string;
  /** Whether a page makes the attack; then it runs in every engine. */
  page?: true;
}
interface Entry {
  file: string;
  titles: string[];
  engines: string[];
  passed: number;
  failed: number;
  skipped: number;
  reasons: string[];
}
interface Run {
  date: string;
  rows: Record<string, Entry[]>;
}
interface Table {
  page: string;
  rowsFile: string;
  runFile: string;
  idsIn(title: string): string[];
  namedRows(): Map<string, Set<string>>;
  titlesIn(source: string): string[];
  condense(reports: object[]): Run;
  merge(run: Run, part: Run): Run;
  withTable(markdown: string, rows: Row[], run: Run): string;
}
const script = (name: string): string => new URL(`../../scripts/lib/${name}.mjs`, import.meta.url).href;
const table: Table = await import(script('security-table'));
const { root }: { root: string } = await import(script('root'));

const rows: Row[] = JSON.parse(readFileSync(table.rowsFile, 'utf8'));
const lastRun: Run = JSON.parse(readFileSync(table.runFile, 'utf8'));

const named = table.namedRows();
const tested = new Set([...named.values()].flatMap((ids) => [...ids]));

test('every row has a test', () => {
  const without = rows.filter(({ id }) => !tested.has(id)).map(({ id }) => id);
  expect(without, 'rows of test/security/rows.json that no title of a test names').toEqual([]);
});

test('every row that a test names is in the list, once', () => {
  const ids = rows.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const unknown = [...named].flatMap(([file, of]) => [...of].filter((id) => !ids.includes(id)).map((id) => [file, id]));
  expect(unknown).toEqual([]);
});

test('the recorded run covers every row with tests that still exist', () => {
  const record = 'npm run security-table -- run records a new one';
  const missing = rows.filter(({ id }) => !lastRun.rows[id]?.some(({ passed }) => passed > 0));
  expect(
    missing.map(({ id }) => id),
    `rows without a passed test in the recorded run: ${record}`,
  ).toEqual([]);
  const failed = Object.entries(lastRun.rows).flatMap(([id, entries]) =>
    entries.flatMap((entry) => (entry.failed > 0 ? [`${id} ${entry.file}`] : [])),
  );
  expect(failed, `tests that failed in the recorded run: ${record}`).toEqual([]);
  const engines = ['Chromium', 'Firefox', 'WebKit'];
  const partly = rows.filter(
    ({ id, page }) =>
      page && !engines.every((engine) => lastRun.rows[id]?.some((entry) => entry.engines.includes(engine))),
  );
  expect(
    partly.map(({ id }) => id),
    `attacks by a page that did not run in every engine: ${record}`,
  ).toEqual([]);
  const renamed = Object.entries(lastRun.rows).flatMap(([id, entries]) =>
    entries.flatMap(({ file }) => (named.get(file)?.has(id) ? [] : [`${id} ${file}`])),
  );
  expect(renamed, `tests of the recorded run that do not name that row now: ${record}`).toEqual([]);
});

test('SECURITY.md has the table of the recorded run', () => {
  const markdown = readFileSync(table.page, 'utf8');
  const stale = table.withTable(markdown, rows, lastRun) !== markdown;
  expect(stale, 'SECURITY.md is stale: npm run security-table writes its table').toBe(false);
});

test("titles are read from a test's code, not from its comments", () => {
  const source = `
    // 'S90: a comment',
    /** S91: another */
    describe('S92: a title', () => {
      test.each([1])("a test (S93, R94)", () => {});
      it(\`a template (S95) of \${1}\`, run);
      expect('S96').toBe(1);
    });`;
  expect(table.titlesIn(source).flatMap(table.idsIn)).toEqual(['S92', 'S93', 'R94', 'S95']);
});

test('a run is condensed by row and file and shows failures and reasons for skips', () => {
  const of = (ancestorTitles: string[], title: string, status = 'passed') => ({ ancestorTitles, title, status });
  const run = table.condense([
    {
      startTime: Date.UTC(2026, 10, 21, 12),
      testResults: [
        {
          name: `${root}test/browser/x.test.ts`,
          assertionResults: [
            of(['a page in Chromium', 'S90: the first'], 'one'),
            of(['a page in WebKit', 'S90: the first'], 'one'),
            of(['a page in WebKit', 'S90: the first'], 'two [skipped: it cannot]', 'skipped'),
            of([], 'names nothing'),
          ],
        },
        {
          name: `${root}packages/x/src/y.test.ts`,
          assertionResults: [of(['both (S90, R91)'], 'a'), of(['both (S90, R91)'], 'b', 'failed')],
        },
      ],
    },
  ]);
  expect(run).toEqual({
    date: '2026-11-21',
    rows: {
      R91: [expect.objectContaining({ titles: ['both'], engines: [], passed: 1, failed: 1 })],
      S90: [
        {
          file: 'test/browser/x.test.ts',
          titles: ['the first'],
          engines: ['Chromium', 'WebKit'],
          passed: 2,
          failed: 0,
          skipped: 1,
          reasons: ['WebKit: it cannot'],
        },
        expect.objectContaining({ file: 'packages/x/src/y.test.ts', passed: 1, failed: 1 }),
      ],
    },
  });
  const made: Row[] = [
    { id: 'S90', property: 'Nothing | leaks.' },
    { id: 'S92', property: 'Later.' },
  ];
  const lines = table.withTable(readFileSync(table.page, 'utf8'), made, run).split('\n');
  expect(lines).toContain(
    '| S90 | Nothing \\| leaks. | [x](test/browser/x.test.ts): the first<br>[y](packages/x/src/y.test.ts): both | Chromium, WebKit, Node | **1 failed**, 3 passed, 1 skipped<br>WebKit: it cannot |',
  );
  expect(lines).toContain('| S92 | Later. | no test in the run |  |  |');
});

test('a part of the tests replaces their results in the recorded run, with its own date', () => {
  const entry = (file: string, passed: number): Entry => ({
    file,
    titles: ['a'],
    engines: [],
    passed,
    failed: 0,
    skipped: 0,
    reasons: [],
  });
  const recorded = {
    date: '2026-11-21',
    rows: { S90: [entry('a.test.ts', 1), entry('b.test.ts', 2)], S91: [entry('b.test.ts', 3)] },
  };
  const run = table.merge(recorded, {
    date: '2026-11-26',
    rows: { S90: [entry('b.test.ts', 4)], S92: [entry('b.test.ts', 5)] },
  });
  const later = { date: '2026-11-26' };
  expect(run).toEqual({
    date: '2026-11-21',
    rows: {
      S90: [entry('a.test.ts', 1), { ...entry('b.test.ts', 4), ...later }],
      S92: [{ ...entry('b.test.ts', 5), ...later }],
    },
  });
  const lines = table.withTable(readFileSync(table.page, 'utf8'), [{ id: 'S92', property: 'New.' }], run).split('\n');
  expect(lines).toContain('| S92 | New. | [b](b.test.ts): a | Node | 5 passed, in part on 2026-11-26 |');
});
