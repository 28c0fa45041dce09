import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../root.mjs';

/** Files that a service serves under `/v/<version>/`. */
const files = ['connector-frame.js', 'connector-catalog.js', 'connector-frame.LICENSE.txt'];

const path = 'packages/element/releases.json';
const element = `${root}packages/element`;

/** Returns the recorded hashes: `{ '0.1.0': { 'connector-frame.js': 'sha384-...' } }`. */
export const recordedReleases = async (folder = element) =>
  JSON.parse(await readFile(join(folder, 'releases.json'), 'utf8'));

/** Returns the integrity hash of each built drop-in file. */
export async function builtHashes(folder = element) {
  const hashes = files.map(async (name) => {
    const hash = createHash('sha384').update(await readFile(join(folder, 'dist', name)));
    return [name, `sha384-${hash.digest('base64')}`];
  });
  return Object.fromEntries(await Promise.all(hashes));
}

/** Returns the files whose built bytes are not those recorded for the version. */
export async function unrecordedFiles(version, folder = element) {
  const recorded = (await recordedReleases(folder))[version] ?? {};
  return Object.entries(await builtHashes(folder))
    .filter(([name, hash]) => recorded[name] !== hash)
    .map(([name]) => name);
}

/**
 * Records the built files as those of a version. From then on a service serves exactly these bytes
 * under `/v/<version>/`.
 * @param isTagged whether the version is released, after which its record can't change
 * @throws Error if the version is released with other bytes
 */
export async function recordRelease(version, { isTagged, folder = element }) {
  const changed = await unrecordedFiles(version, folder);
  if (changed.length === 0) return;
  if (isTagged)
    throw new Error(
      `Version ${version} is released, and its bytes can't change: ${changed.join(', ')} in ${path}. ` +
        'Add a changeset and release a new version.',
    );
  const releases = { ...(await recordedReleases(folder)), [version]: await builtHashes(folder) };
  await writeFile(join(folder, 'releases.json'), `${JSON.stringify(releases, null, 2)}\n`);
}

/**
 * Returns the released versions whose record is no longer what it was when they were tagged.
 * @param tagged `releases.json` as of each version's tag: `{ '0.1.0': '{ "0.1.0": ...' }`
 */
export async function changedRecords(tagged, folder = element) {
  const now = await recordedReleases(folder);
  return Object.entries(tagged)
    .filter(([version, text]) => JSON.stringify(JSON.parse(text)[version]) !== JSON.stringify(now[version]))
    .map(([version]) => version);
}

/** Path of the record in the repository. */
export const releasesPath = path;
