/**
 * `npm run lint`: reports phrases of `words.mjs` in texts that the lint rule doesn't read: Markdown
 * outside of code, the messages of form and element, and the catalog.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findPhrases } from './words.mjs';

const pathspecs = ['*.md', 'packages/*/src/messages/en.*', 'packages/catalog/**/*.json'];
const files = execFileSync('git', ['ls-files', ...pathspecs], { encoding: 'utf8' })
  .split('\n')
  .filter(Boolean);
// Spaces replace code and generated tables, which quote titles of tests, so that line numbers stay.
const notProse = /^```[^]*?^```$|`[^`\n]*`|<!-- prettier-ignore-start -->[^]*?<!-- prettier-ignore-end -->/gm;
let count = 0;
for (const file of files) {
  const text = readFileSync(file, 'utf8');
  const prose = file.endsWith('.md') ? text.replaceAll(notProse, (code) => code.replaceAll(/[^\n]/g, ' ')) : text;
  for (const { index, found, instead } of findPhrases(prose)) {
    count += 1;
    console.error(`${file}:${prose.slice(0, index).split('\n').length} "${found}": write ${instead}.`);
  }
}
process.exitCode = count > 0 ? 1 : 0;
