import type { Browser, Page } from 'playwright-core';
import { bundle } from './bundle.js';
import { startWorld, type World } from './world.js';

/** A host page written with a framework, in front of a real service. */
export interface AdapterHost {
  world: World;
  /** Options of a form on the service, without a session. */
  options: Record<string, unknown>;
  /** Opens the page in a new tab. Each call of a form's `fetchSession` mints a new session. */
  open(browser: Browser, path?: string): Promise<AdapterPage>;
  close(): Promise<void>;
}

export interface AdapterPage {
  page: Page;
  /** Console errors and warnings. */
  console: string[];
  /** Returns the number of sessions requested so far. */
  sessions(): number;
}

/**
 * Serves `module` of test/support, bundled, on a page with `<div id="root">`.
 * @param markup returns the server-rendered content of the root at `/rendered`, for the given
 *   options
 */
export async function serveAdapterHost(
  module: string,
  alias: Record<string, string>,
  markup?: (options: Record<string, unknown>) => Promise<string>,
): Promise<AdapterHost> {
  const rendered = { body: '' };
  const world = await startWorld(
    {},
    {
      '/adapter.js': {
        body: await bundle(`import './${module}.js'`, { alias }),
        headers: { 'content-type': 'text/javascript' },
      },
      '/adapter': { body: documentOf('') },
      '/rendered': rendered,
    },
  );
  const options = {
    kind: 'input',
    typeId: 'okta-systemlog',
    organizationId: world.team,
    frameOrigin: `${world.service.url}/embed`,
    apiBase: world.service.url,
    isNameEditable: true,
  };
  if (markup) rendered.body = documentOf(await markup(options));
  return {
    world,
    options,
    async open(browser, path = '/adapter') {
      const page = await browser.newPage();
      const logged: string[] = [];
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) logged.push(message.text());
      });
      page.on('pageerror', (error) => logged.push(String(error)));
      let sessions = 0;
      await page.exposeFunction('fetchSession', async () => {
        sessions += 1;
        return { sessionToken: await world.session(), organizationId: world.team };
      });
      await page.goto(`${world.host}${path}`);
      await page.waitForFunction(() => 'reactPage' in globalThis || 'vuePage' in globalThis);
      return { page, console: logged, sessions: () => sessions };
    },
    close: () => world.close(),
  };
}

const documentOf = (root: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title><link rel="icon" href="data:,"><div id="root">${root}</div><script type="module" src="/adapter.js"></script></html>`;
