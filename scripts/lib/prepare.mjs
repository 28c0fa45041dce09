import { build } from './build.mjs';
import { ensureBrowser } from './ensure-browser.mjs';
import { ensureFirefox } from './ensure-firefox.mjs';
import { ensureIproute } from './ensure-iproute.mjs';
import { ensureKcat } from './ensure-kcat.mjs';
import { ensurePackages } from './ensure-packages.mjs';
import { ensurePostgres } from './ensure-postgres.mjs';
import { ensureRsyslog } from './ensure-rsyslog.mjs';

/** Installs what the tests need and builds. Answers the environment that names the browsers, and whether the build went well. */
export async function prepare() {
  await ensurePackages();
  const browsers = { ...(await ensureBrowser()), ...(await ensureFirefox()) };
  await ensureIproute();
  await ensureKcat();
  await ensurePostgres();
  await ensureRsyslog();
  return { browsers, built: await build() };
}
