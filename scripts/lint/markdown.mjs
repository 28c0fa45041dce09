/** `npm run lint`: reports phrases of `words.mjs` in Markdown, outside of code. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findPhrases } from './words.mjs';

// Issue 11: these packages' READMEs are still to be rewritten.
const excluded = ['catalog', 'core', 'element', 'form', 'host', 'react', 'vue'].map(
  (name) => `:!packages/${name}/README.md`,
);
const files = execFileSync('git', ['ls-files', '*.md', ...excluded], { encoding: 'utf8' })
  .split('\n')
  .filter(Boolean);
let count = 0;
for (const file of files) {
  // Blanks replace code and generated tables, which quote titles of tests, so that line numbers stay right.
  const prose = readFileSync(file, 'utf8').replaceAll(
    /^```[^]*?^```$|`[^`\n]*`|<!-- prettier-ignore-start -->[^]*?<!-- prettier-ignore-end -->/gm,
    (code) => code.replaceAll(/[^\n]/g, ' '),
  );
  for (const { index, found, instead } of findPhrases(prose)) {
    count += 1;
    console.error(`${file}:${prose.slice(0, index).split('\n').length} "${found}": write ${instead}.`);
  }
}
process.exitCode = count > 0 ? 1 : 0;
