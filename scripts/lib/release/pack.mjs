import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../root.mjs';
import { command } from './command.mjs';

/**
 * Returns the manifests of the packages that are published: those without `private`, dependencies
 * before dependents.
 */
export async function publicManifests() {
  const names = await readdir(`${root}packages`);
  const manifests = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(`${root}packages/${name}/package.json`, 'utf8'))),
  );
  const open = manifests.filter((manifest) => !manifest.private).sort((a, b) => a.name.localeCompare(b.name));
  const sorted = [];
  while (open.length > 0) {
    const waiting = new Set(open.map(({ name }) => name));
    const next = open.findIndex(
      ({ dependencies = {} }) => !Object.keys(dependencies).some((name) => waiting.has(name)),
    );
    if (next === -1) throw new Error(`These packages depend on each other: ${[...waiting].join(', ')}.`);
    sorted.push(...open.splice(next, 1));
  }
  return sorted;
}

/**
 * Packs the public packages from the most recent build, and unpacks them beside the tarballs.
 * @param folder an empty folder
 * @returns for each package, in the order of publishing: `name`, `version`, the tarball `file`, its
 *   `integrity`, `size` and `unpackedSize` in bytes, the `paths` in it, the `manifest` in it, and
 *   the `folder` with its files
 */
export async function packPackages(folder) {
  const names = (await publicManifests()).map(({ name }) => name);
  const workspaces = names.map((name) => `--workspace=${name}`);
  const output = await command(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--loglevel=error', `--pack-destination=${folder}`, ...workspaces],
    { cwd: root },
  );
  const packed = JSON.parse(output);
  return Promise.all(
    names.map(async (name) => {
      const entry = packed.find((one) => one.name === name);
      if (!entry) throw new Error(`npm did not pack ${name}.`);
      const { filename, version, integrity, size, unpackedSize, files } = entry;
      const file = join(folder, filename);
      const unpacked = join(folder, name.split('/').at(-1));
      await mkdir(unpacked);
      await command('tar', ['-xzf', file, '-C', unpacked, '--strip-components=1']);
      const manifest = JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8'));
      const paths = files.map(({ path }) => path);
      return { name, version, file, integrity, size, unpackedSize, paths, manifest, folder: unpacked };
    }),
  );
}
