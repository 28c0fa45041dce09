/**
 * `npm run version-packages`: turns the pending changesets into a version. Sets it in every
 * package.json and in the chart, writes their sentences into CHANGELOG.md, builds, and records the hashes of the
 * drop-in that a service serves under `/v/<version>/`.
 *
 * Without changesets it does the rest for the current version if that is not released yet. It can
 * be repeated until the version has its tag.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { build } from './lib/build.mjs';
import { ensurePackages } from './lib/ensure-packages.mjs';
import { recordRelease } from './lib/release/drop-in-releases.mjs';
import { tagOf, taggedVersions } from './lib/release/git.mjs';
import { publicManifests } from './lib/release/pack.mjs';
import { root } from './lib/root.mjs';
import { run } from './lib/run.mjs';
import { fail, say } from './lib/say.mjs';

await ensurePackages();

// These import packages that the first step installs.
const { withRelease } = await import('./lib/release/changelog.mjs');
const readChangesets = createRequire(import.meta.url)('@changesets/read').default;

const changesets = await readChangesets(root);
if (changesets.length > 0) {
  if ((await run('npx', ['changeset', 'version'])) !== 0)
    fail('"changeset version" failed. Its output above says why.');
  if ((await run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--loglevel=error'])) !== 0)
    fail('package-lock.json could not be updated.');
}

const [{ version }] = await publicManifests();
const isTagged = (await taggedVersions()).includes(version);
if (isTagged) fail(`Version ${version} has the tag ${tagOf(version)}. Add a changeset first: npm run changeset`);

const file = `${root}CHANGELOG.md`;
const today = new Date().toISOString().slice(0, 10);
await writeFile(file, await withRelease(await readFile(file, 'utf8'), version, today, changesets));

const chart = `${root}deploy/helm/connector-frame/Chart.yaml`;
const chartText = await readFile(chart, 'utf8');
await writeFile(chart, chartText.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`));

if (!(await build())) fail('The build failed. Its output above says why.');
await recordRelease(version, { isTagged });
say(`Version ${version} is ready to be committed. RELEASING.md has the next step.`);
