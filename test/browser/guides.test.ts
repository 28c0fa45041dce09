import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createHost } from '@connector-frame/host';
import { toNodeHandler } from '@connector-frame/host/node';
import { createServer, type RunningServer } from '@connector-frame/service';
import { build, type Plugin } from 'esbuild';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.js';
import { bundle } from '../support/bundle.js';
import { codeOf } from '../support/guides.js';
import { newDataFolder } from '../support/data-folder.js';
import { longOr } from '../support/long.js';
import { serve } from '../support/serve.js';
import { press } from '../support/press.js';

// The guides' code, verbatim except for the service's address: the reader's page on one origin, a
// real service on another.

const printed = 'https://connect.example.com';
let browser: Browser;
let context: BrowserContext | undefined;
let service: RunningServer;
let folder: string;
let site: Awaited<ReturnType<typeof serve>>;
let files: Record<string, string> = {};
let headers: Record<string, string> = {};

const code = async (guide: string, file: string) => (await codeOf(guide, file)).replaceAll(printed, service.url);
const types: Record<string, string> = { js: 'text/javascript', css: 'text/css' };

beforeAll(async () => {
  folder = await newDataFolder('guides');
  let host: ReturnType<typeof toNodeHandler> | undefined;
  site = await serve((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://any');
    if (pathname.startsWith('/api/')) return host?.(request, response);
    const body = pathname.startsWith('/connections') ? 'The list' : files[pathname];
    const type = types[pathname.split('.')[1] ?? ''] ?? 'text/html; charset=utf-8';
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': type, ...headers }).end(body);
    return undefined;
  });
  service = await createServer({
    SERVICE_PORT: '0',
    DATA_DIR: folder,
    ALLOWED_PARENT_ORIGINS: site.origin,
    LOG_LEVEL: 'silent',
  });
  const { apiKey, teams } = await service.bootstrap({ organization: 'Test', teams: ['acme'] });
  const authorizeTenant = (_: Request, tenantId: string) => (tenantId === 'acme' ? teams['acme'] : null);
  const cleanup = ['full', 'keep-output', 'pipeline-only'] as const;
  host = toNodeHandler(createHost({ serviceUrl: service.url, apiKey, authorizeTenant, cleanup }));
  browser = await launchBrowser();
});
afterEach(async () => {
  await context?.close();
  [files, headers] = [{}, {}];
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Opens `/connect` with this body and collects the console output. */
async function open(body: string, options = {}, head = ''): Promise<{ page: Page; said: string[] }> {
  files['/connect'] =
    `<!doctype html><html lang="en"><head><title>Host</title>${head}</head><body>${body}</body></html>`;
  context = await browser.newContext({ baseURL: site.origin, ...options });
  const page = await context.newPage();
  const said: string[] = [];
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('console', (message) => message.location().url.endsWith('favicon.ico') || said.push(message.text()));
  await page.goto('/connect');
  return { page, said };
}

const form = (page: Page) => page.frameLocator('iframe');
const save = (page: Page) => form(page).getByRole('button', { name: 'Save' });

async function fillIn(page: Page): Promise<void> {
  await form(page).getByLabel('Organization URL').fill('https://acme.okta.com');
  await form(page).getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
}

const tag =
  '<connector-frame kind="input" type-id="okta-systemlog" host-url="/api" tenant-id="acme"></connector-frame>';
const dropIn = () => `<script type="module" src="${service.url}/v/0/connector-frame.js"></script>`;

test('script: two tags and a listener', async () => {
  files['/connect.js'] = await code('script', 'connect.js');
  const { page, said } = await open(await code('script', 'connect.html'));
  await fillIn(page);
  await press(save(page));
  await expect.poll(() => said.join()).toMatch(/^Okta System Log.* is connected: [\w-]{8,}$/);
});

test('script: an element created before the script has loaded', async () => {
  files['/later.js'] = await code('script', 'later.js');
  const { page, said } = await open(`<script type="module" src="/later.js"></script>${dropIn()}`);
  await form(page).getByLabel('Name', { exact: true }).waitFor();
  await form(page)
    .getByRole('heading', { name: /Splunk/ })
    .waitFor();
  expect(said).toEqual([]);
});

describe('catalog', () => {
  test('in HTML: searches, selects a type and shows its form', async () => {
    const { page, said } = await open(await code('catalog', 'connect.html'));
    await page.getByRole('searchbox').fill('otka system');
    await page.getByRole('button', { name: /Okta System Log/ }).click();
    await form(page).getByLabel('Organization URL').waitFor();
    expect(await page.getByRole('searchbox').isVisible()).toBe(false);
    expect(said).toEqual([]);
  });

  test('in React: selects a type, shows its form and goes back', async () => {
    const folder = fileURLToPath(new URL('../support', import.meta.url));
    const { outputFiles } = await build({
      stdin: {
        contents: `${await code('catalog', 'connect.tsx')}
          import { createRoot } from 'react-dom/client';
          createRoot(document.querySelector('#root')).render(<Connect />);`,
        resolveDir: folder,
        loader: 'tsx',
      },
      bundle: true,
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      conditions: ['source'],
      write: false,
    });
    files['/connect.js'] = outputFiles[0]?.text ?? '';
    const { page } = await open('<div id="root"></div><script type="module" src="/connect.js"></script>');
    await page.getByRole('searchbox').fill('okta system');
    await page.keyboard.press('Enter');
    await form(page).getByLabel('Organization URL').waitFor();
    await form(page).getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('searchbox').waitFor();
  });
});

describe('html', () => {
  const openIt = async (options = {}) => {
    files['/connect.css'] = await code('html', 'connect.css');
    return open(await code('html', 'connect.html'), options, '<link rel="stylesheet" href="/connect.css">');
  };

  test("the page's button saves and CSS shows the state", async () => {
    const { page, said } = await openIt();
    await save(page).waitFor();
    const done = page.getByText('Connected. See all');
    expect(await done.isVisible()).toBe(false);
    await fillIn(page);
    await page.getByRole('button', { name: 'Connect' }).click();
    await done.waitFor();
    expect(said).toEqual([]);
  });

  test('cancel in the form closes the dialog', async () => {
    const { page } = await openIt();
    await form(page).getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  test('shows the fallback link without script', async () => {
    const { page } = await openIt({ javaScriptEnabled: false });
    await page.getByRole('link', { name: 'Write to us' }).waitFor();
  });
});

test.each([
  ['light', 'rgb(101, 52, 201)'],
  ['dark', 'rgb(182, 156, 255)'],
] as const)('theming: the page’s own CSS, %s', async (colorScheme, color) => {
  files['/theme.css'] = await code('theming', 'theme.css');
  const { page, said } = await open(`${dropIn()}${tag}`, { colorScheme }, '<link rel="stylesheet" href="/theme.css">');
  const look = await save(page).evaluate((button) => {
    const { backgroundColor, fontFamily, borderTopLeftRadius } = getComputedStyle(button);
    return { backgroundColor, fontFamily, borderTopLeftRadius };
  });
  expect(look).toMatchObject({ backgroundColor: color, borderTopLeftRadius: '12px' });
  expect(look.fontFamily).toMatch(/^Georgia/);
  expect(said).toEqual([]);
});

describe('events and errors', () => {
  const openIt = async (element: string) => {
    files['/connect.js'] = await code('events-and-errors', 'connect.js');
    files['/report.js'] = 'globalThis.reported = []; globalThis.report = (...words) => reported.push(words);';
    const scripts = '<script src="/report.js"></script><script type="module" src="/connect.js"></script>';
    return (await open(`${element}${scripts}${dropIn()}`)).page;
  };

  test('save leads to the connector', async () => {
    const page = await openIt(tag);
    await fillIn(page);
    await press(save(page));
    await page.waitForURL(/\/connections\/[\w-]{8,}$/);
  });

  test('an unknown type is reported and the page navigates back', async () => {
    const page = await openIt(tag.replace('okta-systemlog', 'no-such-type'));
    await page.waitForURL('**/connections');
  });
});

describe('content security policy', () => {
  const sent = async (name: string) => {
    const lines = (await codeOf('content-security-policy', `${name}.http`)).split('\n');
    const origin = new URL(service.url).origin;
    headers = Object.fromEntries(lines.map((line) => line.replaceAll(printed, origin).split(': ', 2)));
  };
  const packages = async () => {
    files['/element.js'] = await bundle(`import '@connector-frame/element/define';`);
    return `${tag}<script type="module" src="/element.js"></script>`;
  };

  test.each(longOr(['always', 'drop-in', 'trusted-types', 'isolated'], ['drop-in', 'trusted-types']))(
    '%s, with the drop-in',
    async (name) => {
      await sent(name);
      const { page, said } = await open(`${dropIn()}${tag}`);
      await save(page).waitFor();
      expect(said).toEqual([]);
    },
  );

  test.each(longOr(['always', 'packages', 'isolated'], ['packages']))('%s, with the package', async (name) => {
    await sent(name);
    const { page, said } = await open(await packages());
    await save(page).waitFor();
    expect(said).toEqual([]);
  });

  test('reports a missing directive in the words of the guide', async () => {
    await sent('packages');
    const line = /frame-src \S+/.exec(headers['Content-Security-Policy'] ?? '')?.[0] ?? '';
    headers['Content-Security-Policy'] = headers['Content-Security-Policy']?.replace(line, "frame-src 'none'") ?? '';
    const { page } = await open(await packages());
    await page.getByRole('alert').filter({ hasText: line }).waitFor();
  });
});

test('pipelines: built at a save, paused, resumed, deleted', async () => {
  files['/pipelines.js'] = await code('pipelines', 'pipelines.js');
  files['/connected.js'] = await code('pipelines', 'connected.js');
  files['/all.js'] = `import * as pipelines from './pipelines.js'; Object.assign(globalThis, { pipelines });`;
  const { page, said } = await open(
    `<output></output>${tag}${dropIn()}<script type="module" src="/connected.js"></script><script type="module" src="/all.js"></script>`,
  );
  let inputId = '';
  page.on('request', (asked) => {
    if (asked.url().endsWith('/api/build-pipeline')) ({ inputId } = asked.postDataJSON() as { inputId: string });
  });
  await fillIn(page);
  await press(save(page));
  await expect.poll(() => page.locator('output').textContent()).toMatch(/^Okta System Log/);

  const call = (name: string, ...more: string[]) =>
    page.evaluate(
      ({ id, wanted, rest }) => {
        const { pipelines } = globalThis as unknown as {
          pipelines: Record<string, (...given: unknown[]) => Promise<unknown>>;
        };
        return pipelines[wanted]?.({ tenantId: 'acme', inputId: id }, ...rest).catch((error: Error) => error.message);
      },
      { id: inputId, wanted: name, rest: more },
    );
  expect(await call('statusOf')).toMatchObject({ hasPipeline: true, enabled: true });
  expect(await call('pause')).toMatchObject({ enabled: false });
  // It is `Running` until its work has ended.
  await expect.poll(() => call('statusOf')).toMatchObject({ enabled: false, status: 'Disabled' });
  expect(await call('resume')).toMatchObject({ enabled: true });
  expect(await call('remove', 'pipeline-only')).toBeUndefined();
  expect(await call('statusOf')).toEqual({ hasPipeline: false, enabled: false });
  expect(await call('build', 'Okta', 'no-such-output')).toBe('There is no such output.');
  expect(await call('remove', 'full')).toBeUndefined();
  expect(await call('statusOf')).toBe('There is no such input.');
  expect(said).toEqual([expect.stringContaining('404'), expect.stringContaining('404')]);
});

describe('testing', () => {
  /** A stub of Playwright's test runner, as far as the guide's tests use it. */
  const runner = `
    export const test = (name, run) => globalThis.guideTests.push({ name, run });
    export const expect = (locator) => globalThis.guideExpect(locator);
  `;
  const plugin: Plugin = {
    name: 'runner',
    setup(bundler) {
      bundler.onResolve({ filter: /^@playwright\/test$/ }, ({ path }) => ({ path, namespace: 'runner' }));
      bundler.onLoad({ filter: /./, namespace: 'runner' }, () => ({ contents: runner }));
    },
  };

  /** Loads the tests in a guide's code block. */
  async function read(file: string): Promise<{ name: string; run(fixtures: { page: Page }): Promise<void> }[]> {
    const tests: Awaited<ReturnType<typeof read>> = [];
    const result = await build({
      stdin: { contents: await codeOf('testing', file), loader: 'ts', resolveDir: import.meta.dirname },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'node',
      conditions: ['source'],
      plugins: [plugin],
    });
    const toHaveText = (locator: Locator) => (text: string | RegExp) =>
      text instanceof RegExp
        ? expect.poll(() => locator.textContent()).toMatch(text)
        : expect.poll(() => locator.textContent()).toBe(text);
    Object.assign(globalThis, {
      guideTests: tests,
      guideExpect: (locator: Locator) => ({ toHaveText: toHaveText(locator) }),
    });
    await import(`data:text/javascript;base64,${Buffer.from(result.outputFiles[0]?.text ?? '').toString('base64')}`);
    return tests;
  }

  /**
   * Serves a page as a reader would write it: it shows the events it receives in a status element.
   */
  async function prepare(frameOrigin: string): Promise<Page> {
    files['/page.js'] = await bundle(`
      import '@connector-frame/element/define';
      const [form, status] = [document.querySelector('connector-frame'), document.querySelector('[role=status]')];
      form.addEventListener('save', ({ connector }) => (status.textContent = connector.name + ' is connected: ' + connector.id));
      form.addEventListener('error', ({ error }) => (status.textContent = error.code));
    `);
    const { page } = await open(
      `<p role="status"></p>${tag.replace('host-url', `frame-origin="${frameOrigin}" host-url`)}<script type="module" src="/page.js"></script>`,
    );
    return page;
  }

  test('with the fake frame', async () => {
    const tests = await read('connect.spec.ts');
    expect(tests).toHaveLength(2);
    for (const { run } of tests) {
      const page = await prepare(`${printed}/embed`);
      await run({ page });
      await page.context().close();
    }
  });

  test('with the real form', async () => {
    for (const { run } of await read('real.spec.ts')) await run({ page: await prepare(`${service.url}/embed`) });
  });
});
