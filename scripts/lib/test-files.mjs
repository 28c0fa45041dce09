import { existsSync, readdirSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from './root.mjs';

/** Whether Web Test Runner runs a test file; Vitest runs the others. */
export const isElementTest = (file) => file.startsWith('test/elements/');

/** Returns every test file, as paths relative to the repository with forward slashes. */
export function testFiles() {
  const packages = readdirSync(`${root}packages`).map((name) => `packages/${name}/src`);
  return [...packages, 'demo/src', 'test/browser', 'test/elements', 'test/unit']
    .filter((folder) => existsSync(root + folder))
    .flatMap((folder) =>
      readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.test\.tsx?$/.test(file))
        .map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
    )
    .sort();
}

/** Options of Vitest that are followed by a value. */
const withValue = new Set(['-t', '--testNamePattern', '--project', '--reporter']);

/**
 * Returns the test files that arguments of the test runner select: those whose path contains one of
 * the words, as in Vitest; all files if no word is given.
 */
export function selectTests(words, files = testFiles()) {
  const filters = words
    .filter((word, index) => !word.startsWith('-') && !withValue.has(words[index - 1]))
    .map((word) => (word.startsWith('/') ? relative(root, word) : word).replace(/^\.\//, '').replace(/:\d+$/, ''));
  return filters.length === 0 ? files : files.filter((file) => filters.some((filter) => file.includes(filter)));
}
