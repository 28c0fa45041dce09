import { existsSync } from 'node:fs';
import { onPath } from './on-path.mjs';
import { run } from './run.mjs';
import { fail, say } from './say.mjs';

/**
 * Makes sure that a program is there, by its Debian packages when it is missing and this is root on Debian. Answers what `find` answers.
 * @param name as people say it
 * @param find looks for it; whatever is true is a find
 * @param packages Debian packages that it comes in
 * @param purpose what it is for
 * @param advice what to do where it can't be installed
 * @param goWithout runs where it can't be installed; by default that ends the command
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
