import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * Starts an npm registry (verdaccio) on a free port of the loopback interface. It accepts and
 * serves packages of the scope `@connector-frame` only, and never contacts another registry.
 * @param folder where the registry keeps its packages
 * @returns its `url`, and `close()`
 */
export async function startRegistry(folder) {
  const { runServer } = createRequire(import.meta.url)('verdaccio');
  const app = await runServer({
    storage: join(folder, 'storage'),
    configPath: join(folder, 'config.yaml'),
    self_path: join(folder, 'config.yaml'),
    auth: {},
    uplinks: {},
    middlewares: {},
    web: { enable: false },
    packages: { '@connector-frame/*': { access: '$all', publish: '$anonymous' } },
    log: { type: 'stdout', format: 'pretty', level: 'error' },
  });
  await new Promise((resolve, reject) => app.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${app.address().port}/`,
    close: () =>
      new Promise((resolve) => {
        app.close(resolve);
        app.closeAllConnections();
      }),
  };
}

/**
 * Returns the npm settings that direct the scope, and nothing else, to a local registry. npm
 * refuses to publish without a token; the local registry ignores its value.
 */
export const settingsOf = (registry) => [
  `@connector-frame:registry=${registry}`,
  `//${new URL(registry).host}/:_authToken=local`,
];
