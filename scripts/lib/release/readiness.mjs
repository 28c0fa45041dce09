import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { root } from '../root.mjs';
import { isDated } from './changelog.mjs';
import { changedRecords, releasesPath, unrecordedFiles } from './drop-in-releases.mjs';
import { hasChanges, isAtTag, tagOf, textsByVersion } from './git.mjs';

const readChangesets = createRequire(import.meta.url)('@changesets/read').default;

/** Returns what has to be done before the version can be published; RELEASING.md says how. */
export async function missingSteps(version) {
  const steps = [];
  const changesets = await readChangesets(root);
  if (changesets.length > 0)
    steps.push(`${changesets.length} changesets are not in a version: npm run version-packages`);
  const changelog = await readFile(`${root}CHANGELOG.md`, 'utf8');
  if (!isDated(changelog, version))
    steps.push(`CHANGELOG.md has no dated section ${version}: npm run version-packages`);
  const files = await unrecordedFiles(version);
  if (files.length > 0)
    steps.push(`${releasesPath} does not have the built ${files.join(', ')} of ${version}: npm run version-packages`);
  if (await hasChanges()) steps.push('There are changes that are not committed: commit them');
  if (!(await isAtTag(tagOf(version))))
    steps.push(`The commit has no tag ${tagOf(version)}: git tag --sign ${tagOf(version)}`);
  return steps;
}

/** Returns the problems with the records of versions that are released already. */
export async function recordProblems() {
  const versions = await changedRecords(await textsByVersion(releasesPath));
  return versions.map((version) => `${releasesPath} has other hashes for ${version} than the tag ${tagOf(version)}`);
}
