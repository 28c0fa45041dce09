import { build } from './build.mjs';
import { ensureBrowser } from './ensure-browser.mjs';
import {
  ensureDovecot,
  ensureInflux,
  ensureMosquitto,
  ensureNats,
  ensurePrometheus,
  ensureRabbit,
  ensureRedis,
  ensureSshd,
} from './ensure-brokers.mjs';
import { ensureFirefox } from './ensure-firefox.mjs';
import { ensureGo } from './ensure-go.mjs';
import { ensureHaproxy } from './ensure-haproxy.mjs';
import { ensureIproute } from './ensure-iproute.mjs';
import { ensureKcat } from './ensure-kcat.mjs';
import { ensureMariadb } from './ensure-mariadb.mjs';
import { ensureAzurite, ensureNext } from './ensure-npm-program.mjs';
import { ensureUnbound } from './ensure-unbound.mjs';
import { ensurePackages } from './ensure-packages.mjs';
import { ensurePostgres } from './ensure-postgres.mjs';
import { ensurePython } from './ensure-python.mjs';
import { ensureRsyslog } from './ensure-rsyslog.mjs';
import { ensureWebkit } from './ensure-webkit.mjs';
import { needsOf } from './test-needs.mjs';

/**
 * By the names in `test-needs.mjs`. Each resolves to the environment for the tests, if there is any,
 * or to `undefined` if the program is missing.
 */
const ensure = {
  Azurite: ensureAzurite,
  'Next.js': ensureNext,
  Chromium: ensureBrowser,
  Firefox: ensureFirefox,
  Go: ensureGo,
  HAProxy: ensureHaproxy,
  WebKitGTK: ensureWebkit,
  iproute2: ensureIproute,
  kcat: ensureKcat,
  MariaDB: ensureMariadb,
  Unbound: ensureUnbound,
  Dovecot: ensureDovecot,
  InfluxDB: ensureInflux,
  Mosquitto: ensureMosquitto,
  OpenSSH: ensureSshd,
  Prometheus: ensurePrometheus,
  NATS: ensureNats,
  PostgreSQL: ensurePostgres,
  Python: ensurePython,
  RabbitMQ: ensureRabbit,
  Redis: ensureRedis,
  rsyslog: ensureRsyslog,
};

const LONG_ONLY = new Set(['Azurite', 'Go', 'Next.js', 'Python', 'RabbitMQ', 'WebKitGTK']);

/**
 * Installs what the tests need, and builds. Resolves to the environment variables that name the
 * browsers and what is missing, and whether the build succeeded.
 * @param files the test files to prepare for; by default, everything is installed and built, and
 *   types are checked
 * @param long whether to find what only the long run uses, too
 */
export async function prepare({ files, long = false } = {}) {
  const needs = files && needsOf(files);
  const names = (needs?.programs ?? Object.keys(ensure)).filter((name) => long || !LONG_ONLY.has(name));
  const env = {};
  const missing = [];
  const find = async (name) => {
    const found = await ensure[name]();
    if (found === undefined) missing.push(name);
    else if (typeof found === 'object') Object.assign(env, found);
  };
  // The browser is in a package of npm. All others are looked for at once, so that Debian's packages
  // are installed in one step, and meanwhile those of npm.
  await Promise.all([ensurePackages(), ...names.filter((name) => name !== 'Chromium').map(find)]);
  if (names.includes('Chromium')) await find('Chromium');
  // Read by test/support/skip-tests.ts.
  env.MISSING_PROGRAMS = missing.join();
  return { browsers: env, built: await build({ only: needs?.build }) };
}
