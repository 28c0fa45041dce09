import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { long, longOr } from '../support/long.js';
import {
  createProject,
  packAll,
  publicPackages,
  release,
  type PublicPackage,
  type Tarball,
} from '../support/published.js';

// The packages as users get them: packed, checked, installed in an empty project, and used there.
// They are packed from the most recent build.

const root = fileURLToPath(new URL('../../', import.meta.url));

let tarballs: Record<PublicPackage, Tarball>;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ tarballs, remove } = await packAll());
});
afterAll(() => remove?.());

test('every package without "private" is tested here', () => {
  expect(Object.keys(tarballs).sort()).toEqual([...publicPackages]);
});

describe.each(publicPackages)('the tarball of %s', { concurrent: true }, (name) => {
  test('passes publint without suggestions', async () => {
    expect(await release.publintProblems(tarballs[name])).toEqual([]);
  });

  // Takes ten seconds for each package.
  test.runIf(long || name === 'core')('has types that every module resolution finds (attw)', async () => {
    expect(await release.typesProblems(tarballs[name])).toEqual([]);
  });

  test('has complete metadata', () => {
    expect(release.manifestProblems(tarballs[name])).toEqual([]);
  });

  test('contains a README, the license and nothing internal', async () => {
    expect(await release.fileProblems(tarballs[name])).toEqual([]);
  });

  test('has every source that its source maps name', () => {
    expect(tarballs[name].paths.filter((path) => path.endsWith('.map')).length).toBeGreaterThan(0);
    // On a machine with earlier builds, output can remain whose source no longer exists. The release
    // rejects that; tests don't.
    expect(release.filesWithoutSource(tarballs[name]).filter(({ isStale }) => !isStale)).toEqual([]);
  });
});

test("packages depend on each other's current version and on tested third-party versions", () => {
  for (const { manifest } of Object.values(tarballs)) {
    for (const [dependency, range] of Object.entries(manifest.dependencies ?? {})) {
      const other = Object.values(tarballs).find((tarball) => tarball.manifest.name === dependency)?.manifest;
      const installed: { version: string } =
        other ?? JSON.parse(readFileSync(join(root, 'node_modules', dependency, 'package.json'), 'utf8'));
      expect([manifest.name, dependency, range]).toEqual([manifest.name, dependency, installed.version]);
    }
  }
});

test('core has no default addresses, which would receive the tokens of other products', () => {
  const code = readFileSync(join(tarballs.core.folder, 'dist/addresses.js'), 'utf8');
  expect([...code.matchAll(/^export const (\w+) = (.*);$/gm)].map(([, name, value]) => [name, value])).toEqual([
    ['EMBED_URL', "''"],
    ['BASE_URL', "''"],
  ]);
});

interface Use {
  /** Packages of this repository to install. */
  with: PublicPackage[];
  /** Third-party packages to install besides the packages' dependencies. */
  more?: string[];
  /** Module to run in plain Node; its output must match `prints`. */
  node: string;
  prints: RegExp;
  /** Code that must compile unchanged. */
  types: string;
  options?: Record<string, unknown>;
}

/** A few lines of code per package, as a reader of its README would write them. */
const uses: Record<PublicPackage, Use> = {
  catalog: {
    with: ['catalog'],
    node: `
      import { exampleConfig, loadCatalog } from '@connector-frame/catalog';
      import { validateConfig } from '@connector-frame/catalog/validate';
      const type = loadCatalog().get('input', 'okta-systemlog');
      console.log(type.name, loadCatalog().icon('okta-systemlog').slice(0, 4), typeof validateConfig, Object.keys(exampleConfig(type.config)));`,
    prints: /^Okta System Log <svg function \[ 'settings', 'secrets' \]/,
    types: `
      import { loadCatalog, type ConnectorTypeData } from '@connector-frame/catalog';
      const type: ConnectorTypeData | undefined = loadCatalog().get('input', 'okta-systemlog');
      export const id: string | undefined = type?.type_id;`,
    options: { types: ['node'] },
    more: ['@types/node'],
  },
  core: {
    with: ['core'],
    node: `
      import { ConnectorFrameError, createConnectorFrame } from '@connector-frame/core/connect';
      import { isFrameMessage } from '@connector-frame/core/protocol';
      import { fakeFrameHtml } from '@connector-frame/core/testing';
      console.log(typeof createConnectorFrame, new ConnectorFrameError('offline', 'No network') instanceof Error,
        isFrameMessage({ source: 'monad-embed', type: 'ready', version: 1 }), fakeFrameHtml().includes('monad-embed'));`,
    prints: /^function true true true$/m,
    types: `
      import { createConnectorFrame, type ConnectorFrame, type ConnectorFrameErrorCode } from '@connector-frame/core/connect';
      import type { FrameMessage } from '@connector-frame/core/protocol';
      import { fakeFrameHtml } from '@connector-frame/core/testing';
      export const frame: ConnectorFrame = createConnectorFrame({
        container: '#connect', kind: 'input', typeId: 'okta-systemlog',
        fetchSession: () => Promise.resolve({ sessionToken: 'token', organizationId: 'org' }),
        onSave: ({ id }) => id.toUpperCase(),
        onError: (message, { code }) => { const known: ConnectorFrameErrorCode = code; return [message, known]; },
      });
      // @ts-expect-error -- neither a token nor a function that makes one
      createConnectorFrame({ container: '#connect', kind: 'input', typeId: 'okta-systemlog' });
      export const type: FrameMessage['type'] = 'saved';
      export const html: string = fakeFrameHtml();`,
  },
  element: {
    with: ['element', 'core'],
    node: `
      import { ConnectorFrameElement, ConnectorSaveEvent } from '@connector-frame/element';
      import '@connector-frame/element/define';
      import '@connector-frame/element/define';
      console.log(typeof ConnectorFrameElement, typeof ConnectorSaveEvent, customElements.get('connector-frame') === ConnectorFrameElement);`,
    prints: /^function function true$/m,
    types: `
      import '@connector-frame/element/define';
      import type { ConnectorFrameElement } from '@connector-frame/element';
      const element: ConnectorFrameElement = document.createElement('connector-frame');
      element.typeId = 'okta-systemlog';
      element.addEventListener('save', (event) => event.connector.id.toUpperCase());
      element.addEventListener('error', (event) => event.error.code === 'offline');
      // @ts-expect-error -- no such kind
      element.kind = 'both';
      export { createConnectorFrame } from '@connector-frame/element/connector-frame.js';`,
  },
  host: {
    with: ['host', 'core'],
    node: `
      import { createHost } from '@connector-frame/host';
      import { toNodeHandler } from '@connector-frame/host/node';
      const host = createHost({ serviceUrl: 'https://connect.example', apiKey: 'key', authorizeTenant: () => 'org-1' });
      const result = await host(new Request('https://product.example/api/monad/config'));
      console.log(result.status, await result.text(), typeof toNodeHandler(host));`,
    prints:
      /^200 \{"frameOrigin":"https:\/\/connect\.example\/embed","apiBase":"https:\/\/connect\.example"\} function$/m,
    types: `
      import { createServer } from 'node:http';
      import { createHost, type Host, type HostSession } from '@connector-frame/host';
      import { toNodeHandler } from '@connector-frame/host/node';
      const host: Host = createHost({ serviceUrl: 'https://connect.example', apiKey: 'key', authorizeTenant: (_request, tenantId) => tenantId });
      createServer(toNodeHandler(host));
      export type Token = HostSession['session_token'];`,
    options: { types: ['node'] },
    more: ['@types/node'],
  },
  react: {
    with: ['react', 'element', 'core'],
    more: ['react-dom', '@types/react-dom'],
    node: `
      import { createElement } from 'react';
      import { renderToString } from 'react-dom/server';
      import { ConnectorFrame } from '@connector-frame/react';
      console.log(renderToString(createElement(ConnectorFrame, { kind: 'input', typeId: 'okta-systemlog', hostUrl: '/api', tenantId: 'acme' }, 'Loading')));`,
    prints: /^<connector-frame[^>]*>Loading<\/connector-frame>$/m,
    types: `
      import { ConnectorFrame, type ConnectorFrameElement, type SavedConnector } from '@connector-frame/react';
      import { createRef } from 'react';
      const ref = createRef<ConnectorFrameElement>();
      export const page = (
        <ConnectorFrame ref={ref} kind="input" typeId="okta-systemlog" hostUrl="/api" tenantId="acme"
          onSave={(connector: SavedConnector) => connector.id.toUpperCase()} onError={({ code }) => code === 'offline'} />
      );
      // @ts-expect-error -- no such kind
      export const wrong = <ConnectorFrame kind="both" typeId="okta-systemlog" hostUrl="/api" tenantId="acme" />;`,
    options: { jsx: 'react-jsx' },
  },
  vue: {
    with: ['vue', 'element', 'core'],
    node: `
      import { createSSRApp, h } from 'vue';
      import { renderToString } from 'vue/server-renderer';
      import { ConnectorFrame, createConnectorFrames } from '@connector-frame/vue';
      const app = createSSRApp({ render: () => h(ConnectorFrame, { kind: 'input', typeId: 'okta-systemlog', hostUrl: '/api', tenantId: 'acme' }, () => 'Loading') });
      console.log(await renderToString(app.use(createConnectorFrames())));`,
    prints: /^<connector-frame[^>]*>.*Loading.*<\/connector-frame>$/m,
    types: `
      import { createApp, h } from 'vue';
      import { ConnectorFrame, createConnectorFrames, type SavedConnector } from '@connector-frame/vue';
      createApp({
        render: () => h(ConnectorFrame, {
          kind: 'input', typeId: 'okta-systemlog', hostUrl: '/api', tenantId: 'acme',
          onSave: (connector: SavedConnector) => connector.id.toUpperCase(),
        }),
      }).use(createConnectorFrames({ hostUrl: '/api' }));
      // @ts-expect-error -- no such kind
      h(ConnectorFrame, { kind: 'both', typeId: 'okta-systemlog', hostUrl: '/api', tenantId: 'acme' });`,
  },
};

describe.each(longOr<readonly PublicPackage[]>(publicPackages, ['core', 'react']))(
  'an empty project that installs %s',
  { concurrent: true },
  (name) => {
    test('runs in plain Node, type-checks and bundles', async () => {
      const use = uses[name];
      const project = await createProject(
        use.with.map((one) => tarballs[one]),
        use.more,
      );
      try {
        expect(await project.node(use.node)).toMatch(use.prints);

        await project.write(use.options?.['jsx'] === undefined ? 'use.ts' : 'use.tsx', use.types);
        const [nodenext, bundler] = await Promise.all([
          project.check('nodenext', use.options),
          project.check('bundler', use.options),
        ]);
        expect({ nodenext, bundler }).toEqual({ nodenext: '', bundler: '' });

        const modules = Object.entries(tarballs[name].manifest.exports)
          .filter(([entry]) => entry !== './package.json')
          .map(
            ([entry]) =>
              `export * as e${entry.replaceAll(/\W/g, '_')} from '${tarballs[name].manifest.name}${entry.slice(1)}';`,
          );
        // A project may define the condition `source` for its own packages, which then also selects
        // ours; the bundle must still build.
        for (const conditions of [[], ['source']]) {
          const { errors, warnings } = await build({
            stdin: { contents: modules.join('\n'), resolveDir: project.folder },
            bundle: true,
            write: false,
            format: 'esm',
            platform: ['host', 'catalog', 'core'].includes(name) ? 'node' : 'browser',
            conditions,
            logLevel: 'silent',
          });
          expect({ conditions, errors, warnings }).toEqual({ conditions, errors: [], warnings: [] });
        }
      } finally {
        await project.remove();
      }
    });
  },
);
