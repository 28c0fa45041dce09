import { existsSync } from 'node:fs';
import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

const installed = [
  '/Applications/Firefox.app/Contents/MacOS/firefox',
  'C:\\Program Files\\Mozilla Firefox\\firefox.exe',
];

/**
 * Finds a Firefox for the tests that run in two engines: `FIREFOX_PATH`, an installed one, or
 * Debian's `firefox-esr`, which it installs if run as root. Resolves to the environment for the
 * tests. It is empty if Firefox can't be installed; those tests are then skipped and counted as
 * skipped.
 */
export async function ensureFirefox() {
  const path = await ensureProgram({
    name: 'Firefox',
    find,
    packages: ['firefox-esr'],
    purpose: 'the tests in Firefox',
    advice: 'Or name it: FIREFOX_PATH=/path/to/firefox npm test',
  });
  return path ? { FIREFOX_PATH: path } : {};
}

function find() {
  if (process.env.FIREFOX_PATH) return process.env.FIREFOX_PATH;
  // A shell on Windows returns a path that Windows does not recognize.
  const found = process.platform !== 'win32' && (onPath('firefox-esr') ?? onPath('firefox'));
  return found || installed.find((path) => existsSync(path));
}
