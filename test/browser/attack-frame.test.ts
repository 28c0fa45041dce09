import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { DrivenPage } from '../support/engines/driven.js';
import { eventually } from '../support/engines/eventually.js';
import { frameUser } from '../support/engines/frame-user.js';
import { inEngines } from '../support/engines/in-engines.js';
import { traceHost } from '../support/host-trace/host-trace.js';
import { dailyPart } from '../support/long.js';
import { callbacks, openHost, openPage, mount } from '../support/open-host.js';
import { embedAddress, initMessage, openRaw, openRawFrame, rawPage, rawRoutes } from '../support/raw-host.js';
import { logRequests, type RequestLog } from '../support/request-log.js';
import { serve } from '../support/serve.js';
import { startWorld, type World } from '../support/world.js';

// Hostile pages around the real form. The page is on `127.0.0.1` and the service on `localhost`, so
// they are different sites.

let world: World;
let log: RequestLog;

beforeAll(async () => {
  log = logRequests();
  const shell = `<!doctype html><title>Shell</title><iframe src="/" width="700" height="700"></iframe>`;
  world = await startWorld({}, { ...rawRoutes, '/shell': shell }, '127.0.0.1');
});
afterAll(async () => {
  log?.stop();
  await world?.close();
});

/** Returns the API calls sent by a browser. The test's own calls use an API key. */
const apiCalls = (since: number): string[] =>
  log
    .all()
    .slice(since)
    .filter(({ origin, path, headers }) => origin === world.service.url && /^\/v\d/.test(path) && !headers['x-api-key'])
    .map(({ method, path }) => `${method} ${path}`);
const scripts = (since: number): string[] =>
  log
    .all()
    .slice(since)
    .flatMap(({ path }) => (path.startsWith('/embed/assets') ? [path] : []));

/** Registers pages and servers to close after the current test. */
function cleanup(): {
  opened<P extends DrivenPage>(page: P): P;
  served<S extends { close(): Promise<void> }>(server: S): S;
} {
  const all: { close(): Promise<void> }[] = [];
  const keep = <T extends { close(): Promise<void> }>(one: T): T => {
    all.push(one);
    return one;
  };
  afterEach(async () => {
    for (const one of all.splice(0).reverse()) await one.close();
  });
  return { opened: keep, served: keep };
}

inEngines('a hostile page', ['Chromium'], ({ browser }) => {
  const { opened, served } = cleanup();

  describe('S01: an init with an apiBase of another origin', () => {
    test('is rejected by the SDK and the form before any request', async () => {
      const attacker = await serve(
        (_request, response) => void response.setHeader('access-control-allow-origin', '*').end('{}'),
      );
      served(attacker);
      const start = log.all().length;
      const page = opened(await openHost(browser(), world, { apiBase: attacker.origin }));
      await expect
        .poll(() => callbacks(page))
        .toContainEqual(expect.objectContaining({ type: 'error', code: 'api_base_mismatch' }));
      expect(log.to(attacker.origin)).toEqual([]);
      expect(apiCalls(start)).toEqual([]);
    });

    test('is rejected by the form in every spelling, on a page without the SDK', async () => {
      const attacker = await serve(
        (_request, response) => void response.setHeader('access-control-allow-origin', '*').end('{}'),
      );
      served(attacker);
      const { host } = new URL(attacker.origin);
      const { origin, host: own } = new URL(world.service.url);
      const spellings = [
        attacker.origin,
        `${attacker.origin}/`,
        `//${host}`,
        `http://${own}@${host}`,
        `${origin}.${host}`,
        `${origin}@${host}/`,
        `${origin}\\@${host}`,
        `${origin}/../@${host}`,
        ` ${attacker.origin}`,
        `${origin}#${attacker.origin}`,
        `${origin}/\t/../../${host}`,
        attacker.origin.toUpperCase(),
        'javascript:alert(1)',
        'data:text/plain,x',
      ];
      const page = opened(await openRaw(browser(), world));
      const start = log.all().length;
      for (const apiBase of spellings) {
        const frame = await openRawFrame(page, world);
        await frame.post(await initMessage(world, { apiBase }));
        await expect
          .poll(() => frame.messages(), { message: `apiBase ${JSON.stringify(apiBase)}` })
          .toContainEqual(expect.objectContaining({ type: 'error', code: 'api_base_mismatch' }));
      }
      expect(log.to(attacker.origin)).toEqual([]);
      expect(apiCalls(start)).toEqual([]);
    });
  });

  describe('S08: messages to the form', () => {
    test('are accepted from the parent only, and only its first init counts', async () => {
      const page = opened(await openRaw(browser(), world));
      const frame = await openRawFrame(page, world);
      const init = await initMessage(world);
      await frame.post(init);
      await frame.find({ label: 'Organization URL' });
      const start = log.all().length;
      const other = {
        ...init,
        typeId: 'splunk',
        kind: 'output',
        sessionToken: 'stolen',
        apiBase: 'https://evil.example',
      };
      await page.evaluate(
        async ({ other, index }) => {
          for (let count = 0; count < 200; count += 1) raw.post(index, other);
          const source = 'monad-embed';
          raw.post(index, null, 1, 'x', [], { type: 'init' }, { source }, { ...other, type: 'nonsense' });
          raw.post(index, 'x'.repeat(1_000_000), new Map([['source', source]]), { source, type: { toString: null } });
          // A sibling frame on the page's own origin is not the parent.
          const sibling = document.createElement('iframe');
          const session = JSON.stringify({ source, type: 'session', sessionToken: 'evil' });
          const command = JSON.stringify({ source, type: 'command', command: 'cancel' });
          const to = `top.document.querySelectorAll('iframe')[${index}].contentWindow`;
          sibling.srcdoc = `<script>for (const data of [${session}, ${command}]) ${to}.postMessage(data, '*');</script>`;
          document.body.append(sibling);
          await new Promise((resolve) => sibling.addEventListener('load', resolve));
        },
        { other, index: frame.index },
      );
      // Messages are handled in order, so once this input is processed, all of the above were
      // ignored.
      await frame.type('Organization URL', 'https://acme.okta.com');
      expect(await frame.value('Organization URL')).toBe('https://acme.okta.com');
      await frame.find({ role: 'heading', name: 'Okta System Log' });
      expect(apiCalls(start)).toEqual([]);
      expect((await frame.messages()).map(({ type }) => type)).not.toContain('cancel');
    });

    test('other than init are ignored while it waits for an init', async () => {
      const page = opened(await openRaw(browser(), world));
      const frame = await openRawFrame(page, world);
      const start = log.all().length;
      const init = await initMessage(world);
      const source = 'monad-embed';
      const inert = [
        { ...init, source: 'monad' },
        { ...init, version: '1' },
        { ...init, version: undefined },
        { source, type: 'session', sessionToken: 'early' },
        { source, type: 'command', command: 'save' },
        [init],
        JSON.stringify(init),
      ];
      await frame.post(...inert);
      await frame.post(init);
      await frame.find({ label: 'Organization URL' });
      // Only one of the inits started to load a form.
      const loads = apiCalls(start).filter((line) => line.includes('okta-systemlog'));
      expect(loads).toEqual(['GET /v1/inputs/okta-systemlog']);
    });
  });
});

// The short run includes Firefox: it lets a page with an opaque origin pass some policies that
// Chromium enforces.
// Browsers enforce it. The short run alternates between them.
const ofToday = dailyPart(['Chromium', 'Firefox'] as const, 2);
inEngines('a page that may not embed the form', ofToday, ({ browser }) => {
  const { opened, served } = cleanup();

  describe('S07: only a registered origin', () => {
    /** Waits until every frame has loaded or was blocked, and no request is pending. */
    async function loaded(page: DrivenPage): Promise<void> {
      const tracer = await traceHost(page, { servers: [] });
      await tracer.settled();
      tracer.stop();
    }

    test('shows the form (positive control)', async () => {
      const page = opened(await openPage(browser(), world, '/raw'));
      const start = log.all().length;
      const frame = await openRawFrame(page, world);
      await frame.post(await initMessage(world));
      await frame.find({ label: 'Organization URL' });
      expect(scripts(start)).not.toEqual([]);
    });

    test.each([
      ['an unregistered page that names itself', (self: string) => self],
      ['an unregistered page that names the registered one', () => world.host],
      ['a page that names null', () => 'null'],
      ['a page of the same address with another name', () => world.host.replace('127.0.0.1', 'localhost')],
    ])('%s gets no form and no message', async (_, parent) => {
      const evil = await serve({ '/': rawPage, '/host.js': '' });
      served(evil);
      const page = opened(await browser().newPage());
      await page.goto(evil.origin);
      const start = log.all().length;
      const address = embedAddress(world, parent(evil.origin));
      await page.evaluate((address) => raw.open(address), address);
      const requested = (): boolean =>
        log
          .all()
          .slice(start)
          .some(({ path }) => path.startsWith('/embed/?'));
      await expect.poll(requested).toBe(true);
      await loaded(page);
      expect(await page.evaluate(() => raw.messages(0))).toEqual([]);
      expect(scripts(start)).toEqual([]);
    });

    test.each([
      ['a sandbox without an origin', { sandbox: 'allow-scripts' }],
      ['a document of a data: address', {}],
    ])('%s on the registered page gets no form and no message', async (_, attributes) => {
      const page = opened(await openRaw(browser(), world));
      const start = log.all().length;
      const address = embedAddress(world, world.host);
      // Forwards the messages it receives, and reports once that it has run.
      const inner = `<script>
        parent.postMessage('running', '*');
        addEventListener('message', ({ data }) => parent.postMessage(data, '*'));
      </script><iframe src="${address}"></iframe>`;
      const source = `data:text/html,${encodeURIComponent(inner)}`;
      await page.evaluate(({ source, attributes }) => raw.open(source, attributes), { source, attributes });
      await expect.poll(() => page.evaluate(() => raw.messages(0))).toEqual(['running']);
      await loaded(page);
      expect(await page.evaluate(() => raw.messages(0))).toEqual(['running']);
      expect(scripts(start)).toEqual([]);
    });

    test('does not get the form inside a page of another origin', async () => {
      const evil = await serve({
        '/': `<!doctype html><iframe src="${world.host}/" width="700" height="700"></iframe>`,
      });
      served(evil);
      const page = opened(await browser().newPage());
      await page.goto(evil.origin);
      const inner = await frameUser(page).frame();
      await eventually('the script of the host page', () => inner.evaluate(() => 'mount' in globalThis || undefined));
      const start = log.all().length;
      await mount({ ...page, evaluate: (run, given) => inner.evaluate(run, given) }, world, { loadTimeout: 1_500 });
      await expect
        .poll(() => inner.evaluate(() => Object(globalThis).callbacks))
        .toContainEqual(expect.objectContaining({ type: 'error', code: 'frame_timeout' }));
      expect(scripts(start)).toEqual([]);
    });

    test('gets the form inside a page of the same origin', async () => {
      const page = opened(await browser().newPage());
      await page.goto(`${world.host}/shell`);
      const inner = await frameUser(page).frame();
      await eventually('the script of the host page', () => inner.evaluate(() => 'mount' in globalThis || undefined));
      await mount({ ...page, evaluate: (run, given) => inner.evaluate(run, given) }, world);
      await expect.poll(() => inner.evaluate(() => Object(globalThis).callbacks)).toEqual([{ type: 'ready' }]);
    });

    test('shares nothing with an opener: a form in its own window sends no message and accepts no init', async () => {
      const address = embedAddress(world, world.host);
      const init = await initMessage(world);
      const evil = await serve({
        '/': `<!doctype html><button>Open</button><script>
          globalThis.received = [];
          addEventListener('message', ({ data }) => received.push(data));
          document.querySelector('button').onclick = () => {
            const form = open(${JSON.stringify(address)}, 'form');
            setInterval(() => {
              form?.postMessage(${JSON.stringify(init)}, '*');
              fetch('/posted');
            }, 5);
          };
        </script>`,
      });
      served(evil);
      const page = opened(await browser().newPage());
      await page.goto(evil.origin);
      const start = log.all().length;
      await page.focus('button');
      await page.keyboard.press('Enter');
      await expect.poll(() => scripts(start)).not.toEqual([]);
      // Post several more inits, now that the form's script has loaded.
      const posted = (): number => log.linesTo(evil.origin).filter((line) => line === 'GET /posted').length;
      const before = posted();
      await expect.poll(posted).toBeGreaterThan(before + 3);
      expect(await page.evaluate(() => Object(globalThis).received)).toEqual([]);
      expect(apiCalls(start)).toEqual([]);
    });
  });
});
