/**
 * `npm run bench`: measures sizes in bytes, and speed as ratios of two measurements taken side by
 * side in one run. Arguments after `--` select sections: `npm run bench -- size`.
 */
import { ensureBrowser } from './lib/ensure-browser.mjs';
import { ensurePackages } from './lib/ensure-packages.mjs';
import { build } from './lib/build.mjs';
import { say } from './lib/say.mjs';

await ensurePackages();
Object.assign(process.env, await ensureBrowser());
if (!(await build())) process.exit(1);

const sections = [
  'size',
  'memory',
  'service',
  'scale',
  'alerts',
  'engine',
  'delivery',
  'polling',
  'enrichments',
  'metering',
  'jetstream',
  'workers',
  'frame',
  'preload',
  'element',
  'picker',
  'helpers',
  'leaks',
];
const chosen = process.argv.slice(2);
for (const section of sections.filter((name) => chosen.length === 0 || chosen.includes(name))) {
  say(section);
  const { default: measure } = await import(`../bench/${section}.mjs`);
  await measure();
}
const { missed } = await import('../bench/lib.mjs');
process.exit(missed() === 0 ? 0 : 1);
