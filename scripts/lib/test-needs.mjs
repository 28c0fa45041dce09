import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { folderOfPackage, manifestOf, packages } from './packages.mjs';
import { root } from './root.mjs';

/**
 * What a test needs besides the sources, by the module or folder that uses it. A test that imports
 * such a module, directly or through others, has the same needs. `build` lists packages whose
 * `dist` is read, `programs` names of `prepare.mjs`.
 */
export const needs = {
  'packages/catalog/src/load-catalog.ts': { build: ['packages/catalog'] },
  'packages/service/src/server.ts': { build: ['packages/form', 'packages/element'] },
  'packages/service/src/embed/compressed-files.test.ts': { build: ['packages/service'] },
  'packages/service/src/testing/service-child.ts': { build: ['packages/service'] },
  'test/support/service-process.ts': { build: ['packages/service'] },
  'test/support/guides.ts': { build: ['packages/host'] },
  'test/support/azurite.ts': { programs: ['Azurite'] },
  'test/support/next.ts': { programs: ['Next.js'] },
  'test/support/postgres.ts': { programs: ['PostgreSQL'] },
  'test/support/mariadb.ts': { programs: ['MariaDB'] },
  'test/support/kafka.ts': { programs: ['kcat'] },
  'test/support/brokers/redis.ts': { programs: ['Redis'] },
  'test/support/brokers/mosquitto.ts': { programs: ['Mosquitto'] },
  'test/support/brokers/prometheus.ts': { programs: ['Prometheus'] },
  'test/support/brokers/influxdb.ts': { programs: ['InfluxDB'] },
  'test/support/brokers/sshd.ts': { programs: ['OpenSSH'] },
  'test/support/brokers/dovecot.ts': { programs: ['Dovecot'] },
  'test/support/brokers/nats.ts': { programs: ['NATS'] },
  'test/support/brokers/jetstream.ts': { programs: ['NATS'] },
  'test/support/brokers/rabbitmq.ts': { programs: ['RabbitMQ'] },
  'test/support/rsyslog.ts': { programs: ['rsyslog'] },
  'test/support/deploy/proxy.ts': { programs: ['HAProxy'] },
  'test/support/topology/round-robin.ts': { programs: ['HAProxy'] },
  'test/support/unbound.ts': { programs: ['Unbound'] },
  'test/support/network-namespace.ts': { programs: ['iproute2'] },
  'test/support/browser.ts': { programs: ['Chromium'] },
  'test/support/engines/firefox.ts': { programs: ['Firefox'] },
  'test/support/engines/webkit.ts': { programs: ['WebKitGTK'] },
  'test/elements/': { programs: ['Chromium', 'Firefox'] },
  // Journeys and checks of the packages as they are published.
  'test/browser/': { build: packages },
  'test/unit/': { build: packages },
  'test/unit/generated-clients.test.ts': { programs: ['Go', 'Python'] },
  'test/unit/deploy-tools.test.ts': { programs: ['Go', 'Python'] },
};

/**
 * Returns the packages to build and the programs to find for these test files.
 * @param files paths relative to the repository
 */
export function needsOf(files) {
  const build = new Set();
  const programs = new Set();
  const modules = new Set();
  const visit = (path) => {
    if (modules.has(path)) return;
    modules.add(path);
    for (const [place, need] of Object.entries(needs)) {
      if (place.endsWith('/') ? !path.startsWith(place) : path !== place) continue;
      need.build?.forEach((name) => build.add(name));
      need.programs?.forEach((name) => programs.add(name));
    }
    for (const specifier of importsOf(path)) {
      const found = resolve(specifier, path);
      if (found?.module) visit(found.module);
      if (found?.package) build.add(found.package);
    }
  };
  files.forEach(visit);
  return { build: [...build], programs: [...programs] };
}

/** `import`, `export … from` and `import()`; types are not loaded at run time. */
const IMPORT = /(?:^|\n)\s*(?:import|export)\s(?!type\b)[^'";]*?'([^']+)'|\bimport\(\s*'([^']+)'/g;

function importsOf(path) {
  if (!/\.(ts|tsx|mjs|js)$/.test(path)) return [];
  return [...readFileSync(root + path, 'utf8').matchAll(IMPORT)].map(([, whole, dynamic]) => whole ?? dynamic);
}

/** Resolves to a source file, or to the package whose `dist` an entry without sources is in. */
function resolve(specifier, from) {
  if (specifier.startsWith('.')) return { module: sourceFile(join(dirname(from), specifier)) };
  const [, name, entry] = /^(@[^/]+\/[^/]+|[^@/][^/]*)\/?(.*)$/.exec(specifier) ?? [];
  const folder = folderOfPackage(name);
  if (folder === undefined) return undefined;
  const target = manifestOf(folder).exports?.[entry ? `./${entry}` : '.'];
  return target?.source ? { module: sourceFile(join(folder, target.source)) } : { package: folder };
}

/** Returns the TypeScript file behind an import of `x.js`. */
function sourceFile(path) {
  const stem = path.replace(/\.js$/, '');
  return [path, `${stem}.ts`, `${stem}.tsx`].find((file) => existsSync(root + file) && statSync(root + file).isFile());
}
