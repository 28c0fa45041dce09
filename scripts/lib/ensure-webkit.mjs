import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

const packages = ['webkit2gtk-driver', 'xvfb'];

/**
 * Finds WebKitGTK for the long run: its driver (`WEBKIT_DRIVER_PATH`, or one on the path) and an X
 * server for it. Installs both from the Debian packages if run as root on Debian. Resolves to the
 * environment for the tests. It is empty if WebKitGTK can't be installed; the WebKit tests are then
 * skipped and counted as skipped.
 */
export async function ensureWebkit() {
  const path = await ensureProgram({
    name: 'WebKitGTK',
    find,
    packages,
    purpose: 'the tests in WebKit',
    advice: 'Or name its driver: WEBKIT_DRIVER_PATH=/path/to/WebKitWebDriver',
  });
  return path ? { WEBKIT_DRIVER_PATH: path } : {};
}

function find() {
  // The tests start both through `setpriv` of util-linux, so that neither outlives a killed test
  // run.
  if (process.platform !== 'linux' || !onPath('Xvfb') || !onPath('setpriv')) return undefined;
  return process.env.WEBKIT_DRIVER_PATH ?? onPath('WebKitWebDriver');
}
