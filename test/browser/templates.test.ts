import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createHost } from '@connector-frame/host';
import { toNodeHandler } from '@connector-frame/host/node';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.js';
import { freePort } from '../support/free-port.js';
import { codeOf, start } from '../support/guides.js';
import { longOr } from '../support/long.js';
import { press } from '../support/press.js';
import { createProject, packAll, type Project, type PublicPackage } from '../support/published.js';
import { serve } from '../support/serve.js';
import { startWorld, type World } from '../support/world.js';

// The React and Vue guides, followed literally: Vite's official template, our packages as npm would
// install them, and the guide's files. Only the backend's port differs from the guide.

const templates = dirname(createRequire(import.meta.url).resolve('create-vite/package.json'));
let browser: Browser;
let world: World;
let packed: Awaited<ReturnType<typeof packAll>>;
let backend: Awaited<ReturnType<typeof serve>>;
/** Port of the template's servers, one after the other: the service must know their origin. */
let port: number;

beforeAll(async () => {
  port = await freePort();
  [browser, world, packed] = await Promise.all([
    launchBrowser(),
    startWorld({ ALLOWED_PARENT_ORIGINS: `http://localhost:${port}` }),
    packAll(),
  ]);
  const host = createHost({
    serviceUrl: world.service.url,
    apiKey: world.apiKey,
    authorizeTenant: (_, tenantId) => (tenantId === 'acme' ? world.team : null),
  });
  backend = await serve(toNodeHandler(host));
});
afterAll(async () => {
  await browser?.close();
  await backend?.close();
  await world?.close();
  await packed?.remove();
});

interface Guide {
  template: string;
  ours: PublicPackage[];
  /** The guide's files, by their place in the template. */
  files: Record<string, string>;
  /** The commands of the template's `build`. */
  build: string[][];
}

/** Vitest sets NODE_ENV, which would make Vite build for development. */
const { NODE_ENV: _, ...ofUser } = process.env;

/** What Lit logs on a dev server. */
const NOTICE = /^Lit is in dev mode/;

const vite = ['vite', 'build'];
const guides: Record<string, Guide> = {
  react: {
    template: 'template-react-ts',
    ours: ['core', 'element', 'react'],
    files: {
      'src/connect-okta.tsx': 'connect-okta.tsx',
      'src/App.tsx': 'App.tsx',
      'vite.config.ts': 'vite.config.ts',
    },
    build: [['tsc', '-b'], vite],
  },
  vue: {
    template: 'template-vue-ts',
    ours: ['core', 'element', 'vue'],
    files: {
      'src/ConnectOkta.vue': 'ConnectOkta.vue',
      'src/App.vue': 'App.vue',
      'vite.config.ts': 'vite.config.ts',
    },
    // The template also runs vue-tsc, which doesn't support the TypeScript of this repository.
    build: [vite],
  },
};

/** Each takes its template through an installation, a type check and a build. */
const tested = Object.entries(guides).slice(0, longOr(2, 1));

describe.each(tested)('%s', (guide, { template, ours, files, build }) => {
  let project: Project;
  const bin = (name: string) => join(project.folder, 'node_modules/.bin', name);

  beforeAll(async () => {
    const folder = join(templates, template);
    const manifest: { dependencies: object; devDependencies: object } = JSON.parse(
      await readFile(join(folder, 'package.json'), 'utf8'),
    );
    const others = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    const tarballs = ours.map((name) => packed.tarballs[name]);
    project = await createProject(
      tarballs,
      others.filter((name) => name !== 'vue-tsc'),
      folder,
    );
    for (const [path, name] of Object.entries(files)) {
      const code = await codeOf(guide, name);
      await project.write(path, code.replace('http://localhost:3000', backend.origin));
    }
  });
  afterAll(() => project?.remove());

  test('the template builds', async () => {
    for (const [command = '', ...words] of build) {
      await promisify(execFile)(bin(command), words, { cwd: project.folder, env: ofUser }).catch(
        (error: { stdout: string }) => expect.fail(error.stdout),
      );
    }
  });

  test.each([
    ['the dev server', []],
    ['the built page', ['preview']],
  ])('%s shows the form through the proxy, and saves', async (_, words) => {
    const origin = `http://localhost:${port}`;
    const server = await start(
      [bin('vite'), ...words, '--port', String(port), '--strictPort'],
      project.folder,
      { NODE_ENV: '' },
      origin,
    );
    const page = await browser.newPage();
    try {
      const logged = await save(page, origin);
      expect(logged.filter((text) => words.length > 0 || !NOTICE.test(text))).toEqual([
        expect.stringMatching(/ is connected: [\w-]{8,}$/),
      ]);
    } finally {
      await page.close();
      await server.stop();
    }
  });
});

/** Opens the page, fills in and saves its form, and returns what the page logged. */
async function save(page: Page, origin: string): Promise<string[]> {
  const logged: string[] = [];
  page.on('pageerror', (error) => logged.push(String(error)));
  // Vite and React announce themselves in the console of a dev server.
  page.on('console', (message) => {
    const isOurs = ['log', 'warning', 'error'].includes(message.type());
    if (isOurs) logged.push(message.text());
  });
  await page.goto(origin);
  const form = page.frameLocator('iframe');
  await form.getByLabel('Organization URL').fill('https://acme.okta.com');
  await form.getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
  await press(form.getByRole('button', { name: 'Save', exact: true }));
  await expect.poll(() => logged.some((text) => !NOTICE.test(text))).toBe(true);
  return logged;
}
