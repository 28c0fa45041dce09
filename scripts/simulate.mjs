/**
 * `npm run simulate -- --pipelines 2000 --records-per-second 5000`: computes what a load needs, and which
 * limit comes next, from the slopes in bench/slopes.json. Variables of the service are read as it reads
 * them: `USAGE_DAYS=400 npm run simulate`. `--measure` measures the slopes again; names after it select
 * some of them. `--page` writes the outputs of docs/guides/sizing.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ensurePackages } from './lib/ensure-packages.mjs';
import { build } from './lib/build.mjs';

const words = process.argv.slice(2);
await ensurePackages();
if (!(await build())) process.exit(1);
if (words[0] === '--measure') {
  const { MEASURED, measureSlopes } = await import('../bench/slopes.mjs');
  const names = words.slice(1);
  const unknown = names.find((name) => !MEASURED.includes(name));
  if (unknown !== undefined) {
    console.error(`${unknown} is not one of ${MEASURED.join(', ')}.`);
    process.exit(1);
  }
  await measureSlopes(names.length > 0 ? names : MEASURED, (what, found) => console.log(what, JSON.stringify(found)));
  process.exit(0);
}
const [{ run }, { OPTIONS, OptionError }] = await Promise.all([
  import('./lib/simulate/run.mjs'),
  import('./lib/simulate/options.mjs'),
]);
if (words[0] === '--page') {
  const { page, sizingPage } = await import('./lib/simulate/page.mjs');
  writeFileSync(page, await sizingPage(readFileSync(page, 'utf8')));
  process.exit(0);
}
if (words.includes('--help')) {
  for (const [name, fallback, meaning] of OPTIONS)
    console.log(`  --${name.padEnd(22)}${String(fallback ?? '').padStart(8)}  ${meaning}`);
  process.exit(0);
}
try {
  process.stdout.write(run(words, process.env));
} catch (error) {
  if (!(error instanceof OptionError) && error.name !== 'EnvironmentError') throw error;
  console.error(error.message);
  process.exit(1);
}
