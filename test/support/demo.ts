import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startDemo, type Demo } from '../../demo/src/start-demo.js';
import { launchBrowser } from './browser.js';
import { newDataFolder } from './data-folder.js';
import { processStarter } from './topology/starter.js';
import type { Topology } from './topology/topology.js';

export type DemoPage = 'script' | 'html' | 'react' | 'vue';
export const allPages: readonly DemoPage[] = ['script', 'html', 'react', 'vue'];

/** The demo as `npm start` runs it: built pages, real service, real form, two origins. */
export interface DemoFixture {
  demo: Demo;
  browser: Browser;
  /** The demo's data folder. */
  folder: string;
  /** Processes that share the pipelines and the requests with the demo's own service. */
  topology: Topology | undefined;
  /**
   * Policy violations and script errors since the last `clear`. HTTP error responses are excluded,
   * because tests cause them on purpose.
   */
  problems: string[];
  /** Opens a page and signs in as Acme. */
  open(kind: DemoPage, options?: BrowserContextOptions): Promise<Page>;
  /**
   * Calls the service with the product's API key; `~` in the path is replaced by Acme's
   * organization id.
   */
  call(method: string, path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Closes all pages. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the demo and a browser.
 * @param environment variables that override the defaults (free ports, new data folder)
 * @param startProcesses makes the service of the demo one of several processes behind a proxy
 */
export async function startDemoFixture(
  environment: Readonly<Record<string, string>> = {},
  startProcesses = processStarter(),
): Promise<DemoFixture> {
  // `npm test` has built them.
  const pages = fileURLToPath(new URL('../../demo/dist/public', import.meta.url));
  const data = await newDataFolder('demo-data');
  const topology = await startProcesses?.({ FILE_OUTPUT_DIR: join(data, 'files'), ...environment });
  const variables = {
    SERVICE_PORT: '0',
    HOST_PORT: '0',
    DATA_DIR: data,
    LOG_LEVEL: 'silent',
    ...environment,
    ...topology?.own,
  };
  const [demo, browser] = await Promise.all([startDemo(variables, pages), launchBrowser()]).catch(
    async (error: unknown) => {
      await topology?.close();
      throw error;
    },
  );
  const record = JSON.parse(await readFile(join(data, 'host.json'), 'utf8')) as {
    apiKey: string;
    tenants: { id: string; organizationId: string }[];
  };
  const organization = record.tenants.find(({ id }) => id === 'acme')?.organizationId ?? '';
  const problems: string[] = [];
  return {
    demo,
    browser,
    folder: data,
    topology,
    problems,
    async open(kind, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
      const page = await context.newPage();
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
          problems.push(message.text());
        }
      });
      await page.goto(`${demo.hostUrl}/${kind}/`);
      await page.getByRole('button', { name: 'Continue as Acme' }).click();
      await page.locator('#catalog :is(a, button)', { hasText: 'Okta System Log' }).waitFor();
      return page;
    },
    async call(method, path, body) {
      const response = await fetch(demo.serviceUrl + path.replace('~', organization), {
        method,
        headers: { authorization: `ApiKey ${record.apiKey}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
    },
    async clear() {
      await Promise.all(browser.contexts().map((context) => context.close()));
      problems.length = 0;
    },
    async close() {
      await browser.close();
      await demo.close();
      await topology?.close();
      await rm(data, { recursive: true, force: true });
    },
  };
}
