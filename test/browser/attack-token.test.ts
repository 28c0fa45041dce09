import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DrivenFrame, DrivenPage } from '../support/engines/driven.js';
import { frameUser, type FrameUser } from '../support/engines/frame-user.js';
import { heapStrings } from '../support/engines/heap.js';
import { inEngines } from '../support/engines/in-engines.js';
import { callbacks, openHost } from '../support/open-host.js';
import { logRequests, type RequestLog } from '../support/request-log.js';
import { startWorld, type World } from '../support/world.js';

// The full lifecycle of a form: the page gets a token from its own server, a user types and saves,
// and the page removes the form. Then the test searches every place where the token or the typed
// secret could have leaked.

const SECRET = '00aBcDeFgHiJkLmNoPqR';

let world: World;
let log: RequestLog;

beforeAll(async () => {
  log = logRequests();
  world = await startWorld({}, {}, '127.0.0.1');
});
afterAll(async () => {
  log?.stop();
  await world?.close();
});

/** Returns a token and each of its parts that would be sensitive by itself. */
const partsOf = (token: string): string[] => [token, ...token.split('.').filter((part) => part.length > 20)];

inEngines('a recorded session', ['Chromium'], ({ browser, testUnless }) => {
  let since: number;
  beforeEach(() => {
    since = log.all().length;
  });

  /** Opens a form whose page fetches the session from its own server, and fills in the form. */
  async function fill(
    watch?: (page: DrivenPage) => void,
  ): Promise<{ page: DrivenPage; user: FrameUser; tokens: string[] }> {
    const from = {
      async newPage() {
        const page = await browser().newPage();
        watch?.(page);
        return page;
      },
    };
    const page = await openHost(from, world, { fetchSession: true });
    const user = frameUser(page);
    await user.type('Organization URL', 'https://acme.okta.com');
    await user.type('API token', SECRET);
    return { page, user, tokens: sentTokens() };
  }

  /** Returns the tokens the form sent to the service. */
  function sentTokens(): string[] {
    const bearers = log
      .all()
      .slice(since)
      .flatMap(({ headers }) => /^Bearer (.+)/.exec(headers.authorization ?? '')?.[1] ?? []);
    return [...new Set(bearers)].flatMap(partsOf);
  }

  async function save(page: DrivenPage, user: FrameUser): Promise<void> {
    await user.press('Save');
    await expect.poll(() => callbacks(page)).toContainEqual(expect.objectContaining({ type: 'save' }));
  }

  describe('S11, S18: the token and the secret', () => {
    test('are in no URL and in no header but Authorization, of any request', async () => {
      const { page, user, tokens } = await fill();
      await save(page, user);
      const requests = log.all().slice(since);
      expect(tokens.length).toBeGreaterThan(1);
      for (const { origin, path, headers } of requests) {
        const { authorization, ...others } = headers;
        const logged = JSON.stringify([path, others]);
        for (const secret of [...tokens, SECRET]) expect(logged).not.toContain(secret);
        if (authorization) expect(origin).toBe(world.service.url);
      }
      // The form's page sets `no-referrer`, so its requests do not reveal where it is embedded.
      const referrers = requests.filter(({ headers }) => headers.authorization).map(({ headers }) => headers.referer);
      expect(new Set(referrers)).toEqual(new Set([undefined]));
      await page.close();
    });

    test('are in no storage, title, URL, history or text of the page or the frame', async () => {
      const { page, user, tokens } = await fill();
      const frame = await user.frame();
      const before = [await traces(page), await traces(frame)];
      await save(page, user);
      for (const text of [...before, await traces(page), await traces(frame)]) {
        // Positive control: the traces contain the name of the connector type.
        expect(text).toMatch(/okta/i);
        for (const secret of [...tokens, SECRET]) expect(text).not.toContain(secret);
      }
      await page.close();
    });

    testUnless('consoleEvents', 'are in no console message', async () => {
      const logged: string[] = [];
      const { page, user, tokens } = await fill((page) =>
        page.on?.('console', (message) => logged.push(message.text())),
      );
      await save(page, user);
      await page.evaluate(() => console.log('the last message'));
      await expect.poll(() => logged).toContain('the last message');
      for (const secret of [...tokens, SECRET]) expect(logged.join('\n')).not.toContain(secret);
      await page.close();
    });

    test('are not sent in any message after the page removed the form', async () => {
      const { page, tokens } = await fill();
      const calls = (): number => log.linesTo(world.host).filter((line) => line === 'POST /session').length;
      const before = calls();
      await page.evaluate(() => {
        const iframe = document.querySelector('iframe');
        Object(globalThis).frame.destroy();
        // Reinsert the same iframe, as code that kept a reference to it could.
        if (iframe) document.body.append(iframe);
        for (const type of ['ready', 'session_request']) {
          postMessage({ source: 'monad-embed', type, version: 1 }, '*');
        }
      });
      const user = frameUser(page);
      const frame = await user.frame();
      await frame.evaluate(() => {
        const logged: unknown[] = [];
        Object.assign(globalThis, { logged });
        addEventListener('message', ({ data }) => logged.push(data));
        for (const type of ['ready', 'session_request', 'cancel']) {
          parent.postMessage({ source: 'monad-embed', type, version: 1 }, '*');
        }
      });
      await page.evaluate(() => document.querySelector('iframe')?.contentWindow?.postMessage('the last', '*'));
      await expect.poll(() => frame.evaluate(() => Object(globalThis).logged)).toEqual(['the last']);
      expect(calls()).toBe(before);
      expect((await callbacks(page)).map(({ type }) => type)).toEqual(['ready']);
      expect(tokens.length).toBeGreaterThan(1);
      await page.close();
    });

    testUnless('heapSnapshot', 'are not on the heap of the page after it removed the form', async () => {
      const { page, tokens } = await fill();
      const found = async (): Promise<string[]> => {
        const strings = await heapStrings(page);
        return [...tokens, SECRET].filter((secret) => strings.some((text) => text.includes(secret)));
      };
      // While the form is in use, the page holds the token but never the secret.
      expect(await found()).toEqual(expect.arrayContaining(tokens.slice(0, 1)));
      expect(await found()).not.toContain(SECRET);
      await page.evaluate(() => Object(globalThis).frame.destroy());
      await expect.poll(found).toEqual([]);
      await page.close();
    });
  });
});

/** Returns everything a document leaves behind, as one string. */
function traces(document_: DrivenPage | DrivenFrame): Promise<string> {
  return document_.evaluate(async () => {
    const found: unknown[] = [document.title, location.href, document.referrer, document.cookie, name, history.state];
    for (const storage of [localStorage, sessionStorage]) found.push(Object.entries(storage));
    found.push(await indexedDB.databases?.().catch(() => []));
    found.push(await globalThis.caches?.keys().catch(() => []));
    const roots: (Document | ShadowRoot)[] = [document];
    for (const root of roots) {
      for (const element of root.querySelectorAll('*')) {
        found.push([...element.attributes].map((attribute) => attribute.value));
        if (element.shadowRoot) roots.push(element.shadowRoot);
      }
      found.push(root.textContent, root instanceof ShadowRoot ? root.innerHTML : root.documentElement.outerHTML);
    }
    found.push(performance.getEntries().map((entry) => entry.name));
    return JSON.stringify(found);
  });
}
