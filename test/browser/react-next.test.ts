import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createHost } from '@connector-frame/host';
import { toNodeHandler } from '@connector-frame/host/node';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { transform } from 'esbuild';
import { launchBrowser } from '../support/browser.js';
import { freePort } from '../support/free-port.js';
import { codeOf, makeFolder, start, writeCode } from '../support/guides.js';
import { serve } from '../support/serve.js';
import { startWorld, type World } from '../support/world.js';
import { long } from '../support/long.js';
import { nextProgram, nextRoom } from '../support/next.js';
import { press } from '../support/press.js';

/**
 * The code of the React and Next.js guides, verbatim, in one application: built, started, and
 * opened in a browser, with a real service behind it. In the long run: a build takes as long as ten
 * other files.
 */
let browser: Browser;
let folder: Awaited<ReturnType<typeof makeFolder>>;
let world: World;
let server: { stop(): Promise<void> };
let origin: string;
/** Origin of the application whose backend is another server. */
let proxied: string;
let built: string;

let next: string;

beforeAll(async () => {
  if (!long) return;
  next = nextProgram();
  const first = await freePort(2);
  const port = String(first);
  origin = `http://localhost:${port}`;
  proxied = `http://localhost:${first + 1}`;
  [browser, folder, world] = await Promise.all([
    launchBrowser(),
    makeFolder(nextRoom),
    startWorld({ ALLOWED_PARENT_ORIGINS: `${origin},${proxied}` }),
  ]);
  const route = 'app/api/[...path]/route.ts';
  await writeCode(await codeOf('nextjs', 'lib/host.ts'), join(folder.path, 'lib/host.js'));
  await write(route, await codeOf('nextjs', route));
  await write('app/layout.tsx', layout);
  await write('app/connect/page.tsx', await codeOf('react', 'app/connect/page.tsx'));
  await write(
    'app/okta/page.tsx',
    `'use client';\n${await codeOf('react', 'connect-okta.tsx')}\nexport default ConnectOkta;`,
  );
  await write('next.config.mjs', 'export default { reactStrictMode: true };');
  const env = {
    PORT: port,
    SERVICE_URL: world.service.url,
    SERVICE_API_KEY: world.apiKey,
    TEAM_ACME: world.team,
    NEXT_TELEMETRY_DISABLED: '1',
  };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [next, 'build'], {
    cwd: folder.path,
    env: { ...process.env, ...env, NODE_ENV: 'production' },
  });
  built = stdout + stderr;
  server = await start([next, 'start'], folder.path, env, origin);
}, 600_000);
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await world?.close();
  await folder?.remove();
});

const layout = `
  export default ({ children }) => <html lang="en"><head><link rel="icon" href="data:," /></head><body>{children}</body></html>;`;

/**
 * Writes a file with its types removed and JSX kept: Next would otherwise require TypeScript's own
 * packages.
 */
async function write(file: string, code: string, to = folder.path): Promise<void> {
  const path = join(to, file.replace(/\.ts(x?)$/, '.js$1'));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, /\.tsx?$/.test(file) ? (await transform(code, { loader: 'tsx', jsx: 'preserve' })).code : code);
}

const form = (page: Page) => page.frameLocator('iframe');

/** Opens a page as a signed-in user and collects its console output. */
async function open(path: string) {
  const context = await browser.newContext();
  await context.addCookies([{ name: 'tenant', value: 'acme', url: origin }]);
  const page = await context.newPage();
  const logged: { type: string; text: string }[] = [];
  page.on('console', (message) => logged.push({ type: message.type(), text: message.text() }));
  page.on('pageerror', (error) => logged.push({ type: 'error', text: String(error) }));
  await page.goto(origin + path);
  return { page, logged, close: () => context.close() };
}

const inLongRun = test.runIf(long);

inLongRun('builds without a warning about the package', () => {
  expect(built).not.toContain('@connector-frame');
});

inLongRun.each(['/connect', '/okta'])('%s: the server renders the tag without properties', async (path) => {
  const html = await (await fetch(origin + path)).text();
  expect(html).toContain('<connector-frame></connector-frame>');
});

inLongRun('a server component shows the form without console output', async () => {
  const { page, logged, close } = await open('/connect');
  await form(page).getByLabel('Organization URL').waitFor();
  expect(await page.locator('connector-frame').count()).toBe(1);
  expect(logged).toEqual([]);
  await close();
});

inLongRun('a client component handles the save', async () => {
  const { page, logged, close } = await open('/okta');
  await form(page).getByLabel('Organization URL').fill('https://acme.okta.com');
  await form(page).getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
  await press(form(page).getByRole('button', { name: 'Save', exact: true }));
  await expect.poll(() => logged).toEqual([{ type: 'log', text: expect.stringMatching(/ is connected: [\w-]{8,}$/) }]);
  await close();
});

inLongRun(
  'requests to a backend on another server pass through the guide’s rewrites',
  async () => {
    const host = createHost({
      serviceUrl: world.service.url,
      apiKey: world.apiKey,
      authorizeTenant: (_, tenantId) => (tenantId === 'acme' ? world.team : null),
    });
    const backend = await serve(toNodeHandler(host));
    const other = await makeFolder(nextRoom);
    onTestFinished(() => Promise.all([backend.close(), other.remove()]).then(() => undefined));
    await write('app/layout.tsx', layout, other.path);
    await write('app/connect/page.tsx', await codeOf('react', 'app/connect/page.tsx'), other.path);
    const config = await codeOf('nextjs', 'next.config.mjs');
    await write('next.config.mjs', config.replace('http://localhost:3000', backend.origin), other.path);
    const env = { PORT: new URL(proxied).port, NEXT_TELEMETRY_DISABLED: '1' };
    await promisify(execFile)(process.execPath, [next, 'build'], {
      cwd: other.path,
      env: { ...process.env, ...env, NODE_ENV: 'production' },
    });
    const running = await start([next, 'start'], other.path, env, proxied);
    const page = await browser.newPage();
    onTestFinished(async () => {
      await page.close();
      await running.stop();
    });
    await page.goto(`${proxied}/connect`);
    await form(page).getByLabel('Organization URL').waitFor();
  },
  240_000,
);
