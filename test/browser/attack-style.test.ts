import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/engines/eventually.js';
import { frameUser } from '../support/engines/frame-user.js';
import { inEngines } from '../support/engines/in-engines.js';
import { differences, traceHost, type HostTrace } from '../support/host-trace/host-trace.js';
import { hostileSheets, type HostileSheet } from '../support/hostile-sheets.js';
import { dailyPart, long } from '../support/long.js';
import { openHost } from '../support/open-host.js';
import { logRequests } from '../support/request-log.js';
import { serve, type Route } from '../support/serve.js';
import { styleRoute } from '../support/style-route.js';
import { startWorld, type World } from '../support/world.js';

let world: World;

beforeAll(async () => {
  const routes: Record<string, Route> = { '/leak': styleRoute('') };
  for (const [name, css] of Object.entries(hostileSheets)) routes[`/${name}.css`] = styleRoute(css);
  world = await startWorld({}, routes, '127.0.0.1');
});
afterAll(() => world?.close());

const sheets = Object.keys(hostileSheets) as HostileSheet[];

/**
 * Single-line and multi-line secret fields, with generators of secrets of any length that the form
 * accepts.
 */
const fields = {
  'okta-systemlog': { label: 'API token', secret: (bytes: number) => randomBytes(bytes).toString('hex') },
  'google-workspace-admin-activity': {
    label: 'Service account key',
    secret: (bytes: number) => JSON.stringify({ key: randomBytes(bytes).toString('base64') }),
  },
};
type TypeId = keyof typeof fields;

inEngines('a hostile style sheet', ['Chromium'], ({ browser, testUnless }) => {
  /**
   * Types a secret, shows it and hides it. Returns everything the page observed and everything the
   * form's document contained.
   */
  async function observe(sheet: HostileSheet, typeId: TypeId, secret: string) {
    const { label } = fields[typeId];
    const page = await openHost(browser(), world, { typeId, stylesheets: [`${world.host}/${sheet}.css`] });
    const user = frameUser(page);
    await user.find({ label });
    const frame = await user.frame();
    await eventually('the sheet', () =>
      frame.evaluate(() => document.querySelector('link[rel=stylesheet][media=all]') !== null || undefined),
    );
    const tracer = await traceHost(page, { servers: [world.host, world.service.url] });
    await tracer.settled();
    await frame.evaluate(watchDocument);
    await user.focus({ label });
    await tracer.start();
    await page.keyboard.type(secret);
    await tracer.settled();
    await page.keyboard.press('Tab');
    await tracer.settled();
    for (const action of ['Show', 'Hide']) {
      await user.focus({ role: 'button', name: `${action} ${label}` });
      await page.keyboard.press('Enter');
      await tracer.settled();
    }
    const trace = await tracer.trace();
    tracer.stop();
    expect(await user.value(label)).toBe(secret);
    const document = await frame.evaluate(() => Object(globalThis).seen().join('\n'));
    await page.close();
    return { trace, document: String(document) };
  }

  describe('S02: of the page', () => {
    const types = Object.keys(fields) as TypeId[];
    const all = sheets.flatMap((sheet) => types.map((typeId) => ({ sheet, typeId })));
    // The short run tests one type per sheet, alternating, and a part of the sheets each day.
    const cases = dailyPart(
      all.filter((_, index) => long || index % 4 === 0 || index % 4 === 3),
      2,
    );
    test.each(cases)('reveals nothing about a secret: $sheet, $typeId', async ({ sheet, typeId }) => {
      const { secret } = fields[typeId];
      const secrets = [10, 20, ...(long ? [11, 33, 64] : [])].map(secret);
      const traces: HostTrace[] = [];
      for (const one of secrets) {
        const { trace, document } = await observe(sheet, typeId, one);
        traces.push(trace);
        // The secret is in no attribute, text, URL or title, whether masked or shown.
        expect(document).not.toContain(one);
        expect(document).toContain(fields[typeId].label);
      }
      for (const trace of traces) expect(differences(traces[0] ?? {}, trace)).toEqual([]);
    });

    // Positive control: the same sheets decode controls built the usual way.
    const mirrored = '<input oninput="this.setAttribute(\'value\', this.value)">';
    for (const { sheet, control, needs } of [
      { sheet: 'attributes', control: mirrored },
      { sheet: 'sizes', control: '<textarea></textarea>', needs: 'fieldSizing' },
      { sheet: 'inheritance', control: '<textarea></textarea>', needs: 'unicodeRange' },
      { sheet: 'parts', control: '<textarea></textarea>' },
    ] as const) {
      testUnless(needs, `distinguishes two secrets in a native control (positive control): ${sheet}`, async () => {
        const css = hostileSheets[sheet].replace('contain: none', 'field-sizing: content; contain: none');
        const site = await serve({ '/': `<style>${css}</style>${control}`, '/leak': '' });
        const decode = async (secret: string): Promise<unknown> => {
          const page = await browser().newPage();
          const log = logRequests();
          await page.goto(site.origin);
          await page.focus('input, textarea');
          await page.keyboard.type(secret);
          const tracer = await traceHost(page, { servers: [] });
          await tracer.settled();
          const height = await page.evaluate(
            () => document.querySelector('input, textarea')?.getBoundingClientRect().height,
          );
          const leaks = log.linesTo(site.origin).filter((line) => line.includes('leak'));
          tracer.stop();
          log.stop();
          await page.close();
          return [height, leaks];
        };
        expect(await decode('aaaaaaaaaaaa')).not.toEqual(await decode('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0'));
        await site.close();
      });
    }
  });
});

/** Runs in the form: records its document, including open shadow roots, at each change. */
function watchDocument(): void {
  const seen = new Set<string>();
  const watched = new Set<Node>();
  const options = { subtree: true, childList: true, attributes: true, characterData: true };
  const collect = (): void => {
    const roots: (Document | ShadowRoot)[] = [document];
    for (const root of roots) {
      if (!watched.has(root)) observer.observe(root, options);
      watched.add(root);
      seen.add(root instanceof ShadowRoot ? root.innerHTML : root.documentElement.outerHTML);
      for (const { shadowRoot } of root.querySelectorAll('*')) if (shadowRoot) roots.push(shadowRoot);
    }
    const stored = [localStorage, sessionStorage].flatMap((storage) => Object.entries(storage).flat());
    for (const text of [document.title, location.href, document.cookie, name, ...stored]) seen.add(text);
    seen.add(JSON.stringify(history.state) ?? '');
  };
  const observer = new MutationObserver(collect);
  // Also record after a key that does not change the document.
  for (const type of ['input', 'keyup', 'focusin', 'focusout']) addEventListener(type, collect, true);
  collect();
  Object.assign(globalThis, {
    seen: () => {
      collect();
      return [...seen];
    },
  });
}
