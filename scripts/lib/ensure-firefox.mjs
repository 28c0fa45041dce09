import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { run } from './run.mjs';
import { fail, say } from './say.mjs';

const installed = [
  '/Applications/Firefox.app/Contents/MacOS/firefox',
  'C:\\Program Files\\Mozilla Firefox\\firefox.exe',
];

/**
 * Finds a Firefox for the tests that run in two engines: `FIREFOX_PATH`, an installed one, or Debian's `firefox-esr`, which it
 * installs as root. Answers the environment for the tests, empty on a machine where it can't be installed: those tests
 * are then skipped, and counted as skipped.
 */
export async function ensureFirefox() {
  const found = find();
  if (found) return { FIREFOX_PATH: found };
  const advice =
    'Install Firefox (Debian: apt-get install firefox-esr) or name it: FIREFOX_PATH=/path/to/firefox npm test';
  if (
    process.platform !== 'linux' ||
    process.getuid?.() !== 0 ||
    !locate('apt-get') ||
    !existsSync('/etc/debian_version')
  ) {
    say(`No Firefox was found: the Firefox half of the contract tests is skipped. ${advice}`);
    return {};
  }
  say('Installing Firefox from the Debian packages, for the tests that run in two engines ...');
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env, quiet: true });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'firefox-esr'], { env, quiet: true });
  const path = find();
  return path ? { FIREFOX_PATH: path } : fail(`Firefox could not be installed. ${advice}`);
}

function find() {
  if (process.env.FIREFOX_PATH) return process.env.FIREFOX_PATH;
  return locate('firefox-esr') ?? locate('firefox') ?? installed.find((path) => existsSync(path));
}

function locate(command) {
  if (process.platform === 'win32') return undefined;
  try {
    return execFileSync('sh', ['-c', `command -v ${command}`], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}
