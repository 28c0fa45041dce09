import { existsSync } from 'node:fs';
import { onPath } from './on-path.mjs';
import { run } from './run.mjs';
import { fail, say } from './say.mjs';

/**
 * Ensures that a program is available. Installs its Debian packages if it is missing and the
 * process runs as root on Debian. Resolves to the result of `find`.
 * @param name display name
 * @param find returns a truthy value if the program is available
 * @param packages Debian packages that contain it
 * @param purpose what it is used for; shown during installation
 * @param advice what to do if it can't be installed
 * @param goWithout called if it can't be installed; by default, exits the process
 */
export async function ensureProgram({
  name,
  find,
  packages,
  purpose,
  advice,
  goWithout = () => fail(`${name} is missing. ${advice}`),
}) {
  const found = find();
  if (found) return found;
  if (!canInstall()) return goWithout();
  say(`Installing ${name} from the Debian packages, for ${purpose} ...`);
  const options = { env: { DEBIAN_FRONTEND: 'noninteractive' }, quiet: true };
  await run('apt-get', ['update', '-qq'], options);
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], options);
  return find() || fail(`${name} could not be installed. ${advice}`);
}

function canInstall() {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  return isRoot && existsSync('/etc/debian_version') && onPath('apt-get') !== undefined;
}
