import { existsSync, readFileSync } from 'node:fs';
import { onPath } from './on-path.mjs';
import { root } from './root.mjs';
import { run } from './run.mjs';
import { say } from './say.mjs';

/**
 * Ensures that a program is available. If it is missing, and this process runs as root on Debian,
 * installs its packages, in one step for all calls that are made at once. Resolves to the result of `find`, or to `undefined` if the program is
 * missing; its tests are then skipped.
 * @param name display name
 * @param find returns a truthy value if the program is available
 * @param packages Debian packages that contain it, as in `.devcontainer/debian-packages.txt`
 * @param purpose the tests that need it; shown if it is missing
 * @param advice another way to provide it
 */
export async function ensureProgram({ name, find, packages, purpose, advice }) {
  const found = find();
  if (found) return found;
  const unlisted = packages.filter((each) => !debianPackages().includes(each));
  if (unlisted.length > 0) throw new Error(`Add ${unlisted.join()} to .devcontainer/debian-packages.txt`);

  if (canInstall()) {
    await install(name, packages);
    const installed = find();
    if (installed) return installed;
  }
  say(`${name} is missing: ${purpose} are skipped. Debian: apt-get install ${packages.join(' ')}. ${advice ?? ''}`);
  return undefined;
}

/** Programs whose installation has not begun, and the promise of it. */
let queue;

/** Installs the packages of a program, together with those of the other calls made at the same time. */
function install(name, packages) {
  if (!queue) {
    const programs = [];
    queue = { programs, done: new Promise((resolve) => setImmediate(resolve)).then(() => installAll(programs)) };
  }
  queue.programs.push({ name, packages });
  return queue.done;
}

const apt = (...args) => run('apt-get', args, { env: { DEBIAN_FRONTEND: 'noninteractive' }, quiet: true });

async function installAll(programs) {
  queue = undefined;
  say(`Installing ${programs.map(({ name }) => name).join(', ')} from Debian packages, for the tests ...`);
  const add = (packages) => apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
  await apt('update', '-qq');
  if ((await add(programs.flatMap(({ packages }) => packages))) === 0 || programs.length === 1) return;
  // One package that does not exist here makes the whole installation fail.
  for (const { packages } of programs) await add(packages);
}

/** Returns the Debian packages that tests use; the development container installs all of them. */
export const debianPackages = () => readFileSync(`${root}.devcontainer/debian-packages.txt`, 'utf8').trim().split('\n');

function canInstall() {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  return isRoot && existsSync('/etc/debian_version') && onPath('apt-get') !== undefined;
}
