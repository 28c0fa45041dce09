import { existsSync, readFileSync } from 'node:fs';
import { onPath } from './on-path.mjs';
import { root } from './root.mjs';
import { run } from './run.mjs';
import { say } from './say.mjs';

/**
 * Ensures that a program is available. If it is missing, and this process runs as root on Debian,
 * installs its packages. Resolves to the result of `find`, or to `undefined` if the program is
 * missing; its tests are then skipped.
 * @param name display name
 * @param find returns a truthy value if the program is available
 * @param packages Debian packages that contain it, as in `.devcontainer/debian-packages.txt`
 * @param purpose the tests that need it; shown during installation and if it is missing
 * @param advice another way to provide it
 */
export async function ensureProgram({ name, find, packages, purpose, advice }) {
  const found = find();
  if (found) return found;
  const unlisted = packages.filter((each) => !debianPackages().includes(each));
  if (unlisted.length > 0) throw new Error(`Add ${unlisted.join()} to .devcontainer/debian-packages.txt`);

  if (canInstall()) {
    say(`Installing ${name} from the Debian packages ${packages.join(', ')}, for ${purpose} ...`);
    const options = { env: { DEBIAN_FRONTEND: 'noninteractive' }, quiet: true };
    await run('apt-get', ['update', '-qq'], options);
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], options);
    const installed = find();
    if (installed) return installed;
  }
  say(`${name} is missing: ${purpose} are skipped. Debian: apt-get install ${packages.join(' ')}. ${advice ?? ''}`);
  return undefined;
}

/** Returns the Debian packages that tests use; the development container installs all of them. */
export const debianPackages = () => readFileSync(`${root}.devcontainer/debian-packages.txt`, 'utf8').trim().split('\n');

function canInstall() {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  return isRoot && existsSync('/etc/debian_version') && onPath('apt-get') !== undefined;
}
