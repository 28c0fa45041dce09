/**
 * `npm run release -- --dry-run`: builds, packs and checks every public package, publishes them to
 * a registry on this machine, and installs and uses them in an empty project. Nothing leaves the
 * machine.
 *
 * Without `--dry-run`, publishes afterwards the same tarballs to npm's configured registry. It
 * refuses to do so outside CI, where npm can't prove the origin of a package, unless
 * `--without-provenance` is given. RELEASING.md describes a release step by step.
 *
 * Exits with 1 on any problem.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './lib/build.mjs';
import { ensurePackages } from './lib/ensure-packages.mjs';
import { fail, say } from './lib/say.mjs';

const { values: options } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, 'without-provenance': { type: 'boolean' } },
});
const isDryRun = options['dry-run'] === true;
const hasProvenance = options['without-provenance'] !== true;
if (!isDryRun && hasProvenance && process.env.CI !== 'true')
  fail(
    'Packages are published by .github/workflows/release.yml, see RELEASING.md. ' +
      '"npm run release -- --dry-run" does everything but publish. ' +
      '"npm run release -- --without-provenance" publishes from this machine.',
  );

await ensurePackages();
if (!(await build())) fail('The build failed. Its output above says why.');

// These import packages that the first step installs.
const { packageProblems } = await import('./lib/release/check-package.mjs');
const { startRegistry } = await import('./lib/release/local-registry.mjs');
const { packPackages } = await import('./lib/release/pack.mjs');
const { publish } = await import('./lib/release/publish.mjs');
const { missingSteps, recordProblems } = await import('./lib/release/readiness.mjs');
const { tryPackages } = await import('./lib/release/try-packages.mjs');

const folder = await mkdtemp(join(tmpdir(), 'release-'));
try {
  await release();
} catch (error) {
  console.error(`\u2717 ${error.message}`);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function release() {
  say('Packing ...');
  const tarballs = await packPackages(folder);
  const { version } = tarballs[0];
  for (const { name, size, unpackedSize, paths } of tarballs)
    console.log(
      `  ${name}@${version}: ${kB(size)}, unpacked ${kB(unpackedSize)}, ${paths.length} files: ${contents(paths)}`,
    );

  say('Checking metadata, files, exports and types ...');
  const problems = (await Promise.all([...tarballs.map(packageProblems), recordProblems()])).flat();
  if (problems.length > 0) throw new Error(`These packages can't be published:\n  ${problems.join('\n  ')}`);

  say('Publishing to a registry on this machine, and installing from it into an empty project ...');
  const registry = await startRegistry(folder);
  try {
    const local = { registry: registry.url, provenance: false };
    await publish(tarballs, local);
    const repeated = await publish(tarballs, local);
    if (repeated.length > 0) throw new Error(`A second run would publish again: ${repeated.join(', ')}`);
    const { packages, entries } = await tryPackages(tarballs, { registry: registry.url, folder });
    console.log(`  installed ${packages} packages, imported ${entries} entry points, compiled a product`);
  } finally {
    await registry.close();
  }

  const missing = await missingSteps(version);
  if (isDryRun) {
    const next = missing.length === 0 ? '' : ` Before it can be published:\n  ${missing.join('\n  ')}`;
    say(`Dry run of ${version}: ${tarballs.length} packages are in order; nothing was published.${next}`);
    return;
  }
  if (missing.length > 0) throw new Error(`Version ${version} is not ready:\n  ${missing.join('\n  ')}`);
  say(`Publishing ${version} ...`);
  const published = await publish(tarballs, { provenance: hasProvenance });
  say(published.length === 0 ? 'Everything was already published.' : `Published ${published.join(', ')}.`);
}

/** Returns the files at the root, and the number of files in each folder: `LICENSE, dist/ (12)`. */
function contents(paths) {
  const counts = new Map();
  for (const path of paths) {
    const [first, ...rest] = path.split('/');
    const key = rest.length > 0 ? `${first}/` : first;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => (key.endsWith('/') ? `${key} (${count})` : key)).join(', ');
}

function kB(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
