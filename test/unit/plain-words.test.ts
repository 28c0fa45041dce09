import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const { findPhrases }: { findPhrases(text: string): { found: string; instead: string }[] } = await import(
  join(root, 'scripts/lint/words.mjs')
);

test.each([
  ['The form is loaded anew.', ['anew']],
  ['Whoever asks is told.', ['Whoever', 'is told']],
  ['Paused pipelines are at rest; secrets at rest are encrypted.', ['at rest']],
  ['Returns the batches that were read and not acknowledged.', []],
])('%s', (text, found) => {
  expect(findPhrases(text).map((each) => each.found)).toEqual(found);
});

test('the lint rule reports comments, errors, log lines, messages and test titles', () => {
  // Inside the repository, so that the linter uses its configuration.
  const folder = mkdtempSync(join(root, 'test/unit/plain-words-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, 'sample.ts'),
    `// The form is loaded anew.
export const title = 'loaded anew, but this is no text for users';
export function fail(log: { info(fields: object, line: string): void }): never {
  log.info({ title }, \`reading \${title} anew\`);
  throw new Error('Save it' + ' anew.');
}
const notFound = (message: string): Error => new Error(message);
export function find(isFirst: boolean): never {
  throw notFound(isFirst ? 'Not found.' : 'Search anew.');
}
export const response = { code: 'conflict', message: 'Load it anew.' };
export class StaleError extends Error {
  constructor() {
    super('Load it anew.');
  }
}
declare const test: { each(rows: unknown[]): (title: string, run: () => void) => void };
test.each(['anew'])('%s loads anew', () => undefined);
`,
  );
  let output = '';
  try {
    execFileSync(join(root, 'node_modules/.bin/oxlint'), ['--format=unix', folder], { cwd: root, encoding: 'utf8' });
  } catch (error) {
    output = String(Object(error).stdout);
  }
  const lines = Array.from(output.matchAll(/sample\.ts:(\d+):\d+: "anew": write again/g), ([, line]) => Number(line));
  expect(
    lines.toSorted((one, other) => one - other),
    output,
  ).toEqual([1, 4, 5, 9, 11, 14, 18]);
});
