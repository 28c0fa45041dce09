import { build } from './build.mjs';
import { ensureBrowser } from './ensure-browser.mjs';
import { ensureFirefox } from './ensure-firefox.mjs';
import { ensureIproute } from './ensure-iproute.mjs';
import { ensureKcat } from './ensure-kcat.mjs';
import { ensurePackages } from './ensure-packages.mjs';
import { ensurePostgres } from './ensure-postgres.mjs';
import { ensureRsyslog } from './ensure-rsyslog.mjs';
import { ensureWebkit } from './ensure-webkit.mjs';

/**
 * Installs what the tests need, and builds. Resolves to the environment variables that name the
 * browsers, and whether the build succeeded.
 * @param webkit whether to install WebKit as well, which only the long run uses
 */
export async function prepare({ webkit = false } = {}) {
  await ensurePackages();
  const browsers = { ...(await ensureBrowser()), ...(await ensureFirefox()) };
  if (webkit) Object.assign(browsers, await ensureWebkit());
  await ensureIproute();
  await ensureKcat();
  await ensurePostgres();
  await ensureRsyslog();
  return { browsers, built: await build() };
}
