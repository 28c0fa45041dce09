import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { DrivenPage } from '../support/engines/driven.js';
import { eventually } from '../support/engines/eventually.js';
import { inEngines } from '../support/engines/in-engines.js';
import { dailyPart, long } from '../support/long.js';
import { initMessage, openRaw, openRawFrame, rawRoutes, type RawFrame } from '../support/raw-host.js';
import { hostileColors, hostileFonts, hostileRadii } from '../support/hostile-appearance.js';
import { logRequests, type RequestLog } from '../support/request-log.js';
import { serve, type Route } from '../support/serve.js';
import { startWorld, type World } from '../support/world.js';

// What a hostile page can put into an `init`: options of every shape, appearance values, and style
// sheet URLs.

let world: World;
let log: RequestLog;
let attacker: { origin: string; close(): Promise<void> };
let slow: (() => void)[];

const css = { 'content-type': 'text/css' };

beforeAll(async () => {
  log = logRequests();
  slow = [];
  const open = { ...css, 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };
  attacker = await serve(
    (_request, response) => void response.writeHead(200, open).end('body { outline: 7px solid red }'),
  );
  const { host } = new URL(attacker.origin);
  const moved: Route = (_request, response) =>
    void response.writeHead(302, { location: `${attacker.origin}/a.css` }).end();
  const maliciousCss = `@import "${attacker.origin}/import.css"; @import url(//${host}/import2.css);
    @font-face { font-family: leak; src: url(${attacker.origin}/font) }
    body { outline: 7px solid red; background: url(${attacker.origin}/image); font-family: leak }
    * { cursor: url(${attacker.origin}/cursor), auto; list-style-image: url("${attacker.origin}/list") }`;
  world = await startWorld(
    {},
    {
      ...rawRoutes,
      '/form.css': { body: 'body { outline: 7px solid red }', headers: css },
      '/loud.css': { body: maliciousCss, headers: css },
      '/not.css': '<!doctype html>',
      '/error.css': { body: 'body { outline: 7px solid red }', status: 500, headers: css },
      '/moved.css': moved,
      '/slow.css': (_request, response) => void slow.push(() => response.end()),
    },
    '127.0.0.1',
  );
});
afterAll(async () => {
  for (const end of slow ?? []) end();
  log?.stop();
  await Promise.all([attacker?.close(), world?.close()]);
});

const label = { label: 'Organization URL' };

/** Runs a check for each case, in the short run for a third of them. The error names the case that fails. */
async function each<T>(cases: Record<string, T>, check: (value: T) => Promise<void>): Promise<void> {
  for (const [name, value] of dailyPart(Object.entries(cases), 3)) {
    await check(value).catch((cause: unknown) => {
      throw new Error(`failed for ${name}: ${String(cause)}`, { cause });
    });
  }
}

inEngines('a hostile init', ['Chromium'], ({ browser }) => {
  let page: DrivenPage;
  const open = async (): Promise<DrivenPage> => (page = await openRaw(browser(), world));
  afterEach(() => page?.close());

  /**
   * Sends an init. `options` is the source of an expression, so it can hold values that JSON cannot
   * express.
   */
  async function start(options: string): Promise<RawFrame> {
    const frame = await openRawFrame(page, world);
    const given = { index: frame.index, init: await initMessage(world), options };
    await page.evaluate(
      // oxlint-disable-next-line typescript/no-implied-eval -- the page's, and it is the test's own
      ({ index, init, options }) => raw.post(index, { ...init, ...new Function(`return ${options}`)() }),
      given,
    );
    return frame;
  }

  describe('S17: overrides that try to inject markup or change other fields', () => {
    const deep = (levels: number): string => `(() => {
      let field = { name: 'Reached' };
      for (let level = 0; level < ${levels}; level += 1) field = { children: { org_url: field } };
      return { org_url: field };
    })()`;
    const overrides = (settings: string): string => `{ configMetaOverrides: { settings: ${settings} } }`;

    test('a valid override is shown (positive control)', async () => {
      await open();
      const frame = await start(overrides(`{ org_url: { name: 'Tenant address' } }`));
      await frame.find({ label: 'Tenant address' });
    });

    const polluting: Record<string, string> = {
      '__proto__ at the top': `JSON.parse('{"__proto__": {"polluted": "yes", "typeId": "splunk"}}')`,
      '__proto__ of the overrides': `{ configMetaOverrides: JSON.parse('{"__proto__": {"settings": {"org_url": {"name": "yes"}}, "polluted": "yes"}}') }`,
      '__proto__ of a part': overrides(`JSON.parse('{"__proto__": {"org_url": {"name": "yes"}, "polluted": "yes"}}')`),
      '__proto__ of a field': overrides(`{ org_url: JSON.parse('{"__proto__": {"name": "yes", "polluted": "yes"}}') }`),
      '__proto__ of children': overrides(
        `{ org_url: { children: JSON.parse('{"__proto__": {"polluted": {"name": "yes"}}}') } }`,
      ),
      constructor: overrides(`{ constructor: { prototype: { polluted: 'yes' }, name: 'yes' } }`),
      'constructor in children': overrides(
        `{ org_url: { children: { constructor: { children: { prototype: { name: 'yes' } } } } } }`,
      ),
      '__proto__ of the appearance': `{ appearance: JSON.parse('{"__proto__": {"colorPrimary": "red", "polluted": "yes"}}') }`,
    };
    const oversized: Record<string, string> = {
      'nine levels': overrides(deep(9)),
      // Chromium fails to create a message with much deeper nesting.
      'a hundred levels': overrides(deep(100)),
      '2,001 fields': overrides(
        `Object.fromEntries([...Array(2_000).keys()].map((n) => ['f' + n, {}]).concat([['org_url', { name: 'yes' }]]))`,
      ),
      '100,000 fields': overrides(
        `Object.fromEntries([...Array(100_000).keys()].map((n) => ['f' + n, {}]).concat([['org_url', { name: 'yes' }]]))`,
      ),
      'a name of 64 KiB and one': overrides(`{ org_url: { name: 'x'.repeat(65_537) } }`),
      'a name of 8 MB': overrides(`{ org_url: { name: 'x'.repeat(8_000_000) } }`),
      'a circle': overrides(`(() => { const o = { name: 7 }; o.children = { org_url: o }; return { org_url: o }; })()`),
      'what is no text': overrides(
        `{ org_url: { name: { toString: 1 }, description: ['x'], placeholder: new Date() } }`,
      ),
      'what is no dictionary': `{ configMetaOverrides: new Map([['settings', 1]]), appearance: [1], stylesheets: { length: 1e9 } }`,
      'a sparse list': `{ stylesheets: Object.assign([], { length: 1e6 }), appearance: new Uint8Array(1e6) }`,
    };
    test.each([
      ['prototypes', polluting],
      ['sizes and shapes', oversized],
    ])('%s: invalid parts are dropped and the form is unchanged', async (_, cases) => {
      await open();
      await each(cases, async (options) => {
        const frame = await start(options);
        await frame.find(label);
        await frame.find({ role: 'heading', name: 'Okta System Log' });
        const polluted = await (
          await frame.frame()
        ).evaluate(() => {
          const values = [{}, [], '', () => 0, Object.create(Object.prototype)];
          const found = values.map((value) => Object(value).polluted).filter((value) => value !== undefined);
          return [found, Object.keys(Object.prototype)];
        });
        expect(polluted).toEqual([[], []]);
      });
    });
  });

  describe('S19: values of the appearance', () => {
    /** Returns all inline styles that make up the form's appearance. */
    const styleSnapshot = async (frame: RawFrame): Promise<string> => {
      await frame.find(label);
      return (await frame.frame()).evaluate(() => document.documentElement.style.cssText);
    };

    test('apply if they are valid (positive control)', async () => {
      await open();
      const plain = await styleSnapshot(await start('{}'));
      const appearance = { colorPrimary: '#123456', fontFamily: 'Georgia, serif', borderRadius: '3px' };
      const changed = await styleSnapshot(await start(JSON.stringify({ appearance })));
      expect(changed).not.toBe(plain);
      for (const value of Object.values(appearance)) expect(changed).toContain(value);
    });

    test('that are invalid change nothing and cause no request', async () => {
      await open();
      const plain = await styleSnapshot(await start('{}'));
      const colors = hostileColors(attacker.origin);
      const fonts = hostileFonts(attacker.origin);
      const names = ['colorPrimary', 'colorText', 'colorBackground', 'colorBorder'] as const;
      const before = log.to(attacker.origin).length;
      const turns = Array.from({ length: Math.ceil(colors.length / names.length) }, (_, turn) => ({
        ...Object.fromEntries(names.map((name, index) => [name, colors[turn * names.length + index]])),
        fontFamily: fonts[turn % fonts.length],
        borderRadius: hostileRadii[turn % hostileRadii.length],
      }));
      const further = fonts.slice(turns.length).map((fontFamily) => ({ fontFamily }));
      for (const appearance of dailyPart([...turns, ...further], 3)) {
        expect(await styleSnapshot(await start(JSON.stringify({ appearance }))), JSON.stringify(appearance)).toBe(
          plain,
        );
      }
      expect(log.to(attacker.origin)).toHaveLength(before);
    });

    // The browser parses colors, so every engine must agree.
    const colors = {
      '#4f46e5': '#4f46e5',
      'rgb(79 70 229)': '#4f46e5',
      'hsl(243.4 75.4% 58.6%)': '#4f46e5',
      'oklch(0.511 0.23 276.97)': '#4f46e5',
      'oklch(0.6279 0.2577 29.23 / 50%)': '#ff8080',
      RebeccaPurple: '#663399',
    };
    test('may be colors in every CSS notation', async () => {
      await open();
      for (const [colorPrimary, hex] of Object.entries(colors)) {
        const frame = await start(JSON.stringify({ appearance: { colorPrimary } }));
        await frame.find(label);
        const primary = await (
          await frame.frame()
        ).evaluate(() => document.documentElement.style.getPropertyValue('--cf-primary'));
        const parts = (color: string): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
        const far = Math.max(...parts(primary).map((part, index) => Math.abs(part - (parts(hex)[index] ?? 0))));
        expect(far, `${colorPrimary}: ${primary} is not ${hex}`).toBeLessThanOrEqual(2);
      }
    });
  });

  describe('S20: style sheet URLs', () => {
    const outlineOf = async (frame: RawFrame): Promise<string> =>
      (await frame.frame()).evaluate(() => getComputedStyle(document.body).outlineStyle);
    const ownLook = async (frame: RawFrame): Promise<boolean> =>
      (await frame.find({ role: 'button', name: 'Save' })).evaluate(
        (button) => getComputedStyle(button).backgroundColor === 'rgb(79, 70, 229)',
      );
    const failed = async (frame: RawFrame): Promise<boolean> =>
      (await frame.messages()).some(({ code }) => code === 'stylesheet_failed');

    test("of the page's origin apply (positive control)", async () => {
      await open();
      const frame = await start(JSON.stringify({ stylesheets: [`${world.host}/form.css`] }));
      await frame.find(label);
      await expect.poll(() => outlineOf(frame)).toBe('solid');
      expect([await ownLook(frame), await failed(frame)]).toEqual([false, false]);
    });

    const refused: Record<string, (host: string, foreign: string) => string[]> = {
      'a data: address': () => ['data:text/css,body{outline:7px solid red}'],
      'a javascript: address': () => ['javascript:alert(1)'],
      'a file: address': () => ['file:///etc/passwd'],
      'another origin': (_, foreign) => [`${foreign}/form.css`],
      'another origin beside an own one': (host, foreign) => [`${host}/form.css`, `${foreign}/form.css`],
      'a name and a password': (host, foreign) => [`${host.replace('//', '//a:b@')}@${new URL(foreign).host}/form.css`],
      'the host in a path': (host, foreign) => [`${foreign}/${host}/form.css`],
      'no scheme': (_, foreign) => [`//${new URL(foreign).host}/form.css`],
      'the other name of this machine': (host) => [`${host.replace('127.0.0.1', 'localhost')}/form.css`],
      'nine of them': (host) => Array.from({ length: 9 }, () => `${host}/form.css`),
      'one that is missing': (host) => [`${host}/form.css`, `${host}/missing.css`],
      'one that is no style sheet': (host) => [`${host}/not.css`],
      'one with an error': (host) => [`${host}/error.css`],
      'one that leads elsewhere': (host) => [`${host}/moved.css`],
      // Only the long run waits for the form's timeout.
      ...(long && { 'one that never comes': (host: string) => [`${host}/slow.css`] }),
    };
    test('with one invalid or cross-origin URL: the form keeps its appearance, reports an error and requests no other origin', async () => {
      await open();
      const before = log.to(attacker.origin).length;
      await each(refused, async (addresses) => {
        const stylesheets = addresses(world.host, attacker.origin);
        const frame = await start(JSON.stringify({ stylesheets }));
        await frame.find(label);
        await expect.poll(() => failed(frame)).toBe(true);
        expect([await outlineOf(frame), await ownLook(frame)]).toEqual(['none', true]);
        expect(log.to(attacker.origin)).toHaveLength(before);
      });
    });

    test('with a blob: URL of the page: the form keeps its appearance and reports an error', async () => {
      await open();
      const frame = await start(
        `{ stylesheets: [URL.createObjectURL(new Blob(['body { outline: 7px solid red }'], { type: 'text/css' }))] }`,
      );
      await frame.find(label);
      await expect.poll(() => failed(frame)).toBe(true);
      expect([await outlineOf(frame), await ownLook(frame)]).toEqual(['none', true]);
    });

    test("of the page's origin cannot cause requests to other origins", async () => {
      await open();
      const before = log.to(attacker.origin).length;
      const frame = await start(JSON.stringify({ stylesheets: [`${world.host}/maliciousCss.css`] }));
      await frame.find(label);
      // Wait until the engine has processed the sheet: with its @import blocked, it loads or fails.
      await eventually('the sheet', async () =>
        (await outlineOf(frame)) === 'solid' || (await failed(frame)) ? true : undefined,
      );
      await (await frame.frame()).evaluate(async () => void (await document.fonts.ready));
      expect(log.to(attacker.origin)).toHaveLength(before);
    });
  });
});
