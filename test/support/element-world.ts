import { rm } from 'node:fs/promises';
import { createHost, HostError } from '@connector-frame/host';
import { toNodeHandler } from '@connector-frame/host/node';
import { createServer, type RunningServer } from '@connector-frame/service';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { bundle } from './bundle.js';
import { newDataFolder } from './data-folder.js';
import { serve } from './serve.js';

/**
 * A host page with only the element, its host routes, and a service on another origin. All are
 * real.
 */
export interface ElementWorld {
  service: RunningServer;
  /**
   * Origin of the host page, which serves the host routes at `/api`. Tenant `acme` is signed in,
   * `globex` is not.
   */
  origin: string;
  team: string;
  session(): Promise<string>;
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Opens a page with this body and records the events of its elements. */
  open(from: Browser | BrowserContext, body: string, options?: PageOptions): Promise<Page>;
  close(): Promise<void>;
}

export interface PageOptions {
  headers?: Record<string, string>;
  /** HTML added to the head. */
  head?: string;
  /** `false`: the test loads `/define.js` itself. */
  define?: boolean;
}

/** A recorded event: `['save', connector]`, `['error', code, message]`, `['uncaught', message]`. */
export type RecordedEvent = [event: string, ...given: unknown[]];

declare global {
  /** In the page; for `page.evaluate`. */
  var recordedEvents: RecordedEvent[];
}

/**
 * Runs before the element is defined. Listeners capture at the document, to also receive events
 * that do not bubble.
 */
const listen = `
  globalThis.recordedEvents = [];
  const record = (...words) => recordedEvents.push(words);
  addEventListener('error', ({ target, message }) => { if (target === window) record('uncaught', message); });
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => record('violation', violatedDirective, blockedURI));
  const of = (event) => event.target.localName?.startsWith('connector-');
  document.addEventListener('ready', (event) => of(event) && record('ready'), true);
  document.addEventListener('save', (event) => of(event) && record('save', event.connector), true);
  document.addEventListener('cancel', (event) => of(event) && record('cancel'), true);
  document.addEventListener('select', (event) => of(event) && record('select', event.connectorType.type_id), true);
  document.addEventListener('error', (event) => of(event) && record('error', event.error.code, event.message), true);
`;

export async function startElementWorld(): Promise<ElementWorld> {
  const folder = await newDataFolder('element');
  const scripts: Record<string, string> = {
    '/listen.js': listen,
    '/define.js': await bundle(`import '@connector-frame/element/define'`),
    '/define-catalog.js': await bundle(`import '@connector-frame/element/define-catalog'`),
  };
  let pages: Record<string, { body: string; headers: Record<string, string> }> = {};
  let host: ReturnType<typeof toNodeHandler> | undefined;
  const site = await serve((request, response) => {
    const path = new URL(request.url ?? '/', 'http://any').pathname;
    const script = scripts[path];
    const page = pages[path];
    if (script !== undefined) response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
    else if (page)
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...page.headers }).end(page.body);
    else if (path.startsWith('/api/')) host?.(request, response);
    else if (path.startsWith('/web/')) response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
    else response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
  });
  const service = await createServer({
    SERVICE_PORT: '0',
    DATA_DIR: folder,
    ALLOWED_PARENT_ORIGINS: site.origin,
    LOG_LEVEL: 'silent',
  });
  const { apiKey, teams } = await service.bootstrap({ organization: 'Test', teams: ['acme'] });
  const team = teams['acme'] ?? '';
  host = toNodeHandler(
    createHost({
      serviceUrl: service.url,
      apiKey,
      authorizeTenant(_, tenantId) {
        if (tenantId === 'globex') throw new HostError('unauthenticated', 'Sign in first.');
        return tenantId === 'acme' ? team : null;
      },
      onError: () => undefined,
    }),
  );
  const call: ElementWorld['call'] = async (method, path, body) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  let opened = 0;

  return {
    service,
    origin: site.origin,
    team,
    call,
    async session() {
      return String((await call('POST', '/v3/sessions', { organization_id: team }))['session_token']);
    },
    async open(from, body, { headers = {}, head = '', define = true } = {}) {
      const path = `/page-${(opened += 1)}`;
      const script = define ? '<script type="module" src="/define.js"></script>' : '';
      pages = {
        ...pages,
        [path]: {
          headers,
          body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title>
<meta name="viewport" content="width=device-width"><script src="/listen.js"></script>${head}</head><body>${body}${script}</body></html>`,
        },
      };
      const page = await from.newPage();
      await page.goto(site.origin + path);
      return page;
    },
    async close() {
      await site.close();
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the events that the page's elements have dispatched so far. */
export const eventsOf = (page: Page): Promise<RecordedEvent[]> => page.evaluate(() => recordedEvents);
