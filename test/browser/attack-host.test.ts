import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHost, HostError } from '@connector-frame/host';
import { toNodeHandler } from '@connector-frame/host/node';
import type { DrivenPage } from '../support/engines/driven.js';
import { inEngines } from '../support/engines/in-engines.js';
import { logRequests, type RequestLog } from '../support/request-log.js';
import { serve, type Handler } from '../support/serve.js';
import { startWorld, type World } from '../support/world.js';

// The host's own routes, on a server that identifies the user by a cookie, in front of the real
// service. There are two tenants: `acme`, who is signed in, and `globex`.

let world: World;
let log: RequestLog;
let host: { origin: string; close(): Promise<void> };
let evil: { origin: string; close(): Promise<void> };

const tenants = ['acme', 'globex'];

beforeAll(async () => {
  log = logRequests();
  world = await startWorld();
  const routes = toNodeHandler(
    createHost({
      serviceUrl: world.service.url,
      apiKey: world.apiKey,
      authorizeTenant(request, tenantId) {
        const signedIn = /tenant=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1];
        if (signedIn === undefined) throw new HostError('unauthenticated', 'Sign in first.');
        return signedIn === tenantId && tenants.includes(tenantId) ? world.team : null;
      },
      onError: () => undefined,
    }),
  );
  const page: Handler = (request, response) => {
    if (request.url?.startsWith('/api/')) return routes(request, response);
    response.setHeader('set-cookie', 'tenant=acme; Path=/');
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Product</title>');
  };
  [host, evil] = await Promise.all([
    serve(page, '127.0.0.1'),
    serve({ '/': '<!doctype html><title>Evil</title><iframe name="sink"></iframe>' }, 'localhost'),
  ]);
});
afterAll(async () => {
  log?.stop();
  await Promise.all([host?.close(), evil?.close(), world?.close()]);
});

/** Returns the calls the service receives while `run` runs. */
async function upstream(run: () => Promise<void>): Promise<string[]> {
  const start = log.all().length;
  await run();
  return log
    .all()
    .slice(start)
    .flatMap(({ origin, method, path }) => (origin === world.service.url ? [`${method} ${path}`] : []));
}

inEngines('the host routes', ['Chromium'], ({ browser }) => {
  /** Opens the product, which signs the user in, and then another origin. */
  async function open(origin: string): Promise<DrivenPage> {
    const page = await browser().newPage();
    await page.goto(host.origin);
    if (origin !== host.origin) await page.goto(origin);
    return page;
  }

  interface Call {
    method: 'GET' | 'POST';
    path: string;
    body?: unknown;
  }
  /** Returns the status of each call, sent from a page of the product. */
  const statuses = (page: DrivenPage, calls: Call[]): Promise<number[]> =>
    page.evaluate(
      (calls) =>
        Promise.all(
          calls.map(async ({ method, path, body }) => {
            const headers = { 'content-type': 'application/json' };
            const sent = method === 'POST' ? { headers, body: JSON.stringify(body) } : {};
            return (await fetch(path, { method, ...sent })).status;
          }),
        ),
      calls,
    );

  describe('S06: a request that names another tenant', () => {
    const foreign: unknown[] = [
      'globex',
      'GLOBEX',
      'acme,globex',
      'globex\u0000acme',
      'acme/../globex',
      '../globex',
      ' globex',
      'nobody',
      '',
      null,
      7,
      ['acme', 'globex'],
      { id: 'globex' },
      '__proto__',
    ];

    test('in its body is rejected without a call to the service', async () => {
      const page = await open(host.origin);
      const calls = ['/api/session', '/api/build-pipeline', '/api/integration-action'].flatMap((path) =>
        foreign.map((tenantId) => ({
          method: 'POST' as const,
          path,
          body: { tenantId, organizationId: world.team, inputId: 'con_1', connectorId: 'con_1', action: 'enable' },
        })),
      );
      const sent = await upstream(async () => {
        const responses = await statuses(page, calls);
        expect([...new Set(responses)].filter((status) => ![400, 403].includes(status))).toEqual([]);
        expect(responses[0]).toBe(403);
      });
      expect(sent).toEqual([]);
      await page.close();
    });

    test('in its query is rejected without a call to the service', async () => {
      const page = await open(host.origin);
      const queries = foreign.map((tenantId) => `tenantId=${encodeURIComponent(String(tenantId))}`);
      const both = ['tenantId=globex&tenantId=acme', 'tenantId[]=globex', 'tenantid=acme&tenantId=globex'];
      const calls = [...queries, ...both].map((query) => ({
        method: 'GET' as const,
        path: `/api/connectors?kind=input&${query}`,
      }));
      const sent = await upstream(async () => {
        const responses = await statuses(page, calls);
        expect([...new Set(responses)].filter((status) => ![400, 403].includes(status))).toEqual([]);
        expect(responses[0]).toBe(403);
      });
      expect(sent).toEqual([]);
      await page.close();
    });

    test("gets a session for the user's own tenant (positive control)", async () => {
      const page = await open(host.origin);
      const sent = await upstream(async () => {
        const own = [{ method: 'POST' as const, path: '/api/session', body: { tenantId: 'acme' } }];
        expect(await statuses(page, own)).toEqual([200]);
      });
      expect(sent).toEqual(['POST /v3/sessions']);
      await page.close();
    });
  });

  describe('S24: another site in the browser of a signed-in user', () => {
    test('cannot trigger an action of the host with forms or scripts', async () => {
      const page = await open(evil.origin);
      const sent = await upstream(() =>
        page.evaluate(async (origin) => {
          const body = JSON.stringify({ tenantId: 'acme' });
          const paths = ['/api/session', '/api/build-pipeline', '/api/integration-action'];
          const attempt = (path: string, request: RequestInit): Promise<unknown> =>
            fetch(origin + path, { credentials: 'include', ...request }).catch(() => undefined);
          for (const path of paths) {
            await attempt(path, { method: 'POST', mode: 'no-cors', body });
            const types = ['text/plain', 'application/json', 'text/plain; application/json'];
            for (const type of types) {
              await attempt(path, { method: 'POST', mode: 'no-cors', headers: { 'content-type': type }, body });
              await attempt(path, { method: 'POST', headers: { 'content-type': type }, body });
            }
            await attempt(path, { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ tenantId: 'acme' }) });
            await attempt(path, { method: 'POST', headers: { 'connector-frame-request': '1' }, body });
            for (const enctype of ['text/plain', 'multipart/form-data', 'application/x-www-form-urlencoded']) {
              const form = document.createElement('form');
              Object.assign(form, { method: 'post', action: origin + path, target: 'sink', enctype });
              // With `enctype="text/plain"` the body is valid JSON.
              form.append(
                Object.assign(document.createElement('input'), { name: '{"tenantId":"acme","x":"', value: '"}' }),
              );
              document.body.append(form);
              const sink = document.querySelector('iframe');
              const loaded = new Promise((resolve) => sink?.addEventListener('load', resolve, { once: true }));
              form.submit();
              await loaded;
            }
          }
        }, host.origin),
      );
      expect(sent).toEqual([]);
      const posts = log.to(host.origin).filter(({ method }) => method === 'POST');
      expect(posts.length).toBeGreaterThan(20);
      await page.close();
    });
  });
});
