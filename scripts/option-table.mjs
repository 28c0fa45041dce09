/**
 * `npm run option-table`: writes the option tables in the READMEs of core and element, and
 * custom-elements.json, from the tables in the sources.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pages, withTable } from './lib/option-table.mjs';
import { run } from './lib/run.mjs';

for (const { page, table } of pages) {
  writeFileSync(page, withTable(readFileSync(page, 'utf8'), table()));
  console.log(page);
}
process.exitCode = await run('npm', ['run', '--silent', 'analyze', '-w', 'packages/element']);
