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

const LONG_ONLY = new Set(['Azurite', 'Go', 'HAProxy', 'Next.js', 'Python', 'RabbitMQ', 'WebKitGTK']);

/**
 * Installs what the tests need, and builds. Resolves to the environment variables that name the
 * browsers and what is missing, and whether the build succeeded.
 * @param files the test files to prepare for; by default, everything is installed and built, and
 *   types are checked
 * @param long whether to find what only the long run uses, too
 */
export async function prepare({ files, long = false } = {}) {
  await ensurePackages();
  const needs = files && needsOf(files);
  const env = {};
  const missing = [];
  for (const name of needs?.programs ?? Object.keys(ensure)) {
    if (LONG_ONLY.has(name) && !long) continue;
    const found = await ensure[name]();
    if (found === undefined) missing.push(name);
    else if (typeof found === 'object') Object.assign(env, found);
  }
  // Read by test/support/skip-missing.ts.
  env.MISSING_PROGRAMS = missing.join();
  return { browsers: env, built: await build({ only: needs?.build }) };
}
