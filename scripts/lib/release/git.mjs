import { root } from '../root.mjs';
import { command } from './command.mjs';

/** Tag of a version. All packages share one version, so there is one tag for each release. */
export const tagOf = (version) => `v${version}`;

const git = (args, cwd) => command('git', args, { cwd });

/** Returns the versions that have a tag. */
export async function taggedVersions(cwd = root) {
  const output = await git(['tag', '--list', 'v[0-9]*'], cwd);
  return output
    .split('\n')
    .filter(Boolean)
    .map((tag) => tag.slice(1));
}

/** Returns a file's text as of the tag of each version. */
export async function textsByVersion(path, cwd = root) {
  const versions = await taggedVersions(cwd);
  return Object.fromEntries(
    await Promise.all(
      versions.map(async (version) => [version, await git(['show', `${tagOf(version)}:${path}`], cwd)]),
    ),
  );
}

/** Whether the working tree has changes that are not committed. */
export const hasChanges = async (cwd = root) => (await git(['status', '--porcelain'], cwd)).trim() !== '';

/** Whether the checked-out commit has the tag. */
export async function isAtTag(tag, cwd = root) {
  return (await git(['tag', '--list', '--points-at', 'HEAD', tag], cwd)).trim() === tag;
}
