import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.js';
import { serve } from '../support/serve.js';

/** What the gallery puts on its window. */
interface GalleryWindow {
  form: {
    values: Map<string, unknown>;
    calls: string[];
    setState(state: unknown): void;
    change(part: object): void;
    setShown(path: string, shown: boolean): void;
  };
  heights: number[];
}

const policy = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src *; form-action 'none'",
  "base-uri 'none'; require-trusted-types-for 'script'; trusted-types lit-html",
].join('; ');

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const scenes = [
  ...['create', 'blank', 'edit', 'kept', 'cleared', 'kinds', 'kinds-empty', 'kinds-invalid', 'testing', 'test-failed'],
  ...['saving', 'failure', 'expired', 'saved', 'loading', 'load-failed', 'long'],
];

let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;
let requests: string[] = [];
let contexts: BrowserContext[] = [];

beforeAll(async () => {
  const files = await buildGallery();
  site = await serve((request, response) => {
    const path = new URL(request.url ?? '/', 'http://any').pathname;
    requests.push(path);
    const file = files.get(path === '/' ? '/index.html' : path);
    if (file === undefined) return void response.writeHead(404).end();
    const type = path.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8';
    response.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(file);
  });
  browser = await launchBrowser();
});

afterEach(async () => {
  await Promise.all(contexts.map((context) => context.close()));
  contexts = [];
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function buildGallery(): Promise<Map<string, string | Uint8Array>> {
  const built = await build({
    root: fileURLToPath(new URL('../../packages/form/gallery', import.meta.url)),
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['source', 'module', 'browser', 'production'] },
    build: { write: false, modulePreload: false },
  });
  if (!('output' in built)) throw new Error('Vite built something else than one bundle');
  return new Map(
    built.output.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : file.source] as const),
  );
}

/** Opens a scene in a context of its own. Anything the policy or the console complains about fails the test that asks. */
async function open(
  scene: string,
  { query = '', width = 560, ...options }: BrowserContextOptions & { query?: string; width?: number } = {},
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    ...options,
  });
  contexts.push(context);
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  complaints = [];
  await page.goto(`${site.origin}/?scene=${scene}${query}`);
  await page.waitForSelector('.cf-root');
  return page;
}

let complaints: string[] = [];

const valueOf = (page: Page, path: string): Promise<unknown> =>
  page.evaluate((at) => (window as unknown as GalleryWindow).form.values.get(at), path);

const callsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => (window as unknown as GalleryWindow).form.calls.filter((call) => !call.startsWith('leave')));

/** Accessible name and role of what has focus, through shadow roots. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    if (!element || element === document.body) return 'nothing';
    const label = (element as HTMLInputElement).labels?.[0]?.textContent;
    return (element.getAttribute('aria-label') ?? label ?? element.textContent).trim().replace(/\s+/g, ' ');
  });

const status = (page: Page): Promise<string | null> => page.getByRole('status').textContent();

describe('labels', () => {
  test('a control is found by its label, and what is typed reaches the form', async () => {
    const page = await open('kinds-empty');
    await page.getByLabel('Account').fill('acme');
    await page.getByLabel('Organization URL').fill('https://acme.okta.com');
    await page.getByLabel('Port', { exact: true }).fill('443');
    await page.getByLabel('Query').fill('SELECT 1');
    await page.getByLabel('Verify certificates').check();
    await page.getByLabel('Region').selectOption('Europe (Ireland)');
    await page.getByLabel('Schedule').fill('30 6 * * 1-5');
    await page.getByLabel('API token').fill('not-a-real-token');
    await page.getByLabel('Service account key').fill('{}');
    expect(await valueOf(page, '/settings/text')).toBe('acme');
    expect(await valueOf(page, '/settings/org_url')).toBe('https://acme.okta.com');
    expect(await valueOf(page, '/settings/port')).toBe('443');
    expect(await valueOf(page, '/settings/query')).toBe('SELECT 1');
    expect(await valueOf(page, '/settings/tls')).toBe(true);
    expect(await valueOf(page, '/settings/region')).toBe('eu-west-1');
    expect(await valueOf(page, '/secrets/api_token')).toBe('not-a-real-token');
    expect(await valueOf(page, '/secrets/service_account')).toBe('{}');
    expect(await page.getByText('At 06:30, Monday to Friday (UTC)').isVisible()).toBe(true);
    expect(complaints).toEqual([]);
  });

  test('a secret is found even where a choice has the same name, and a click on its label focuses it', async () => {
    const page = await open('blank');
    await page.getByLabel('API token').fill('x');
    expect(await valueOf(page, '/secrets/api_token')).toBe('x');
    await page.getByLabel('Organization URL').focus();
    await page.locator('label', { hasText: 'API token' }).click();
    expect(await focused(page)).toBe('API token');
  });

  test('help and errors describe their control, a secret included', async () => {
    const page = await open('edit');
    const url = page.getByLabel('Organization URL');
    expect(await url.getAttribute('aria-invalid')).toBe('true');
    const described = await url.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${described}"]`).textContent()).toContain('without a path');
    const snapshot = await page.getByLabel('API token').evaluate((input: HTMLInputElement) => {
      const root = input.getRootNode() as ShadowRoot;
      return [input.getAttribute('aria-invalid'), root.getElementById('about')?.textContent];
    });
    expect(snapshot).toEqual(['true', expect.stringContaining('Enter it again')]);
  });

  test('a time is entered in local time and kept in UTC, and both are said', async () => {
    const page = await open('kinds-empty');
    await page.getByLabel('Backfill from').fill('2026-11-12T09:30');
    expect(await valueOf(page, '/settings/since')).toBe('2026-11-12T08:30:00Z');
    expect(await page.getByText('Europe/Berlin time. In UTC: 12 Nov 2026, 08:30').isVisible()).toBe(true);
  });
});

describe('keyboard', () => {
  test('Tab walks in the order seen, in a narrow frame too', async () => {
    const walk = async (width: number): Promise<string[]> => {
      const page = await open('create', { width });
      const seen: string[] = [];
      for (;;) {
        await page.keyboard.press('Tab');
        const now = await focused(page);
        if (now === 'nothing' || seen.includes(`${now} `)) return seen.map((name) => name.trim());
        seen.push(now === 'API token' && seen.includes(now) ? `${now} ` : now);
        if (seen.length > 20) return seen;
      }
    };
    const fields = [
      'Name',
      'Organization URL',
      'API token',
      'API token',
      'Show Show API token',
      'Start from',
      'Advanced',
    ];
    expect((await walk(560)).slice(0, 10)).toEqual([...fields, 'Test connection', 'Cancel', 'Save']);
    expect((await walk(320)).slice(0, 10)).toEqual([...fields, 'Save', 'Test connection', 'Cancel']);
  });

  test('arrows move a choice and Enter saves, from a secret too, once at a time', async () => {
    const page = await open('blank');
    await page.getByRole('radio', { name: 'API token' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await focused(page)).toBe('OAuth service app');
    expect(await valueOf(page, '/settings/auth/type')).toBe('oauth');
    expect(await page.getByLabel('Client ID').isVisible()).toBe(true);
    await page.keyboard.press('ArrowRight');
    expect(await valueOf(page, '/settings/auth/type')).toBe('token');
    const saving = await open('create');
    await saving.getByLabel('API token').press('Enter');
    await saving.getByRole('button', { name: 'Save' }).click();
    await saving.getByText('Saved').waitFor();
    expect(await callsOf(saving)).toEqual(['save']);
  });

  test('rows are added and removed, focus and words follow', async () => {
    const page = await open('kinds-empty');
    const list = page.getByRole('group', { name: 'Event types' });
    await list.getByRole('button', { name: 'Add to Event type' }).press('Enter');
    expect(await focused(page)).toBe('Event type 1');
    await page.keyboard.type('a');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('Event type 2');
    await page.keyboard.press('Enter');
    expect(await callsOf(page)).toEqual(['save']);
    await page.keyboard.type('b');
    await page.keyboard.press('Enter');
    await page.keyboard.type('c');
    await list.getByRole('button', { name: 'Remove Event type 2' }).press('Enter');
    expect(await focused(page)).toBe('Remove Event type 2');
    expect(await page.getByLabel('Event type 2').inputValue()).toBe('c');
    expect(await status(page)).toMatch(/Removed\. Event type: 2 left/);
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('Remove Event type 1');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toMatch(/Add to Event type/);
  });

  test('rows of objects, of a map and of a secret map take focus as well', async () => {
    const page = await open('kinds-empty');
    for (const [group, first] of [
      ['Brokers', 'Broker host'],
      ['Headers', 'Name 1'],
      ['Secret headers', 'Name 1'],
    ] as const) {
      const list = page.getByRole('group', { name: group, exact: true });
      await list.getByRole('button', { name: `Add to ${group}` }).click();
      expect(await focused(page)).toBe(first);
      await page.keyboard.type('x');
    }
    expect(await valueOf(page, '/settings/brokers/0/host')).toBe('x');
    expect(await valueOf(page, '/settings/headers/0/key')).toBe('x');
    expect(await valueOf(page, '/secrets/secret_headers/0/key')).toBe('x');
    await page.getByRole('group', { name: 'Secret headers' }).getByLabel('Value 1').fill('hidden');
    expect(await valueOf(page, '/secrets/secret_headers/0/value')).toBe('hidden');
  });

  test('a kept secret is replaced, kept after all, cleared and restored', async () => {
    const page = await open('kept');
    await page.getByRole('button', { name: 'Replace API token' }).press('Enter');
    expect(await focused(page)).toBe('API token');
    await page.keyboard.type('new');
    await page.getByRole('button', { name: 'Keep the saved API token' }).press('Enter');
    expect(await focused(page)).toMatch(/Replace API token/);
    expect(await valueOf(page, '/secrets/api_token')).toBeUndefined();
    expect(await page.getByRole('button', { name: 'Clear API token' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Clear Signing key' }).press('Enter');
    expect(await page.getByText('Will be removed when you save').isVisible()).toBe(true);
    expect(await focused(page)).toMatch(/Undo/);
    await page.keyboard.press('Enter');
    expect(await focused(page)).toMatch(/Replace Signing key/);
  });
});

describe('after a refused save', () => {
  test('the summary takes focus and leads to each field', async () => {
    const page = await open('blank');
    await page.getByLabel('Organization URL').press('Enter');
    expect(await focused(page)).toMatch(/^Two things to fix before saving/);
    await page.getByRole('link', { name: 'API token' }).press('Enter');
    expect(await focused(page)).toBe('API token');
    await page.getByRole('link', { name: 'Organization URL' }).click();
    expect(await focused(page)).toBe('Organization URL');
    expect(new URL(page.url()).hash).toBe('');
  });
});

describe('states', () => {
  test('test and save tell their progress and result', async () => {
    const page = await open('create');
    const button = page.getByRole('button', { name: 'Test connection' });
    await button.click();
    expect(await button.getAttribute('aria-busy')).toBe('true');
    expect(await status(page)).toBe('Testing the connection');
    await page.waitForFunction(() => document.querySelector('[role=status]')?.textContent.includes('Read 1 event'));
    expect(await focused(page)).toBe('Test connection');
  });

  test('while saving the fields hold still, and focus is where it was if it fails', async () => {
    const page = await open('create');
    await page.getByLabel('Name').focus();
    await page.evaluate(() => {
      const { form } = window as unknown as GalleryWindow;
      Object.assign(form, {
        save: async () => {
          form.change({ saving: true });
          await new Promise((resolve) => setTimeout(resolve, 100));
          form.change({ saving: false, failure: { code: 'offline', message: 'You are offline', hint: 'Later.' } });
        },
      });
    });
    await page.keyboard.press('Enter');
    await page.locator('.cf-body[inert]').waitFor({ state: 'attached' });
    await page.getByRole('alert').waitFor();
    expect(await focused(page)).toBe('Name');
    expect(await page.getByLabel('Name').inputValue()).toBe('Okta System Log 7f3k');
  });

  test('retry is offered where it helps, and the loading shape waits before it is seen', async () => {
    const page = await open('load-failed');
    await page.getByRole('button', { name: 'Try again' }).click();
    expect(await callsOf(page)).toEqual(['retry']);
    const loading = await open('loading', { reducedMotion: 'no-preference' });
    const timing = await loading
      .locator('.cf-skeleton')
      .evaluate((element) => element.getAnimations()[0]?.effect?.getTiming());
    expect(timing).toMatchObject({ delay: 150, fill: 'both' });
  });

  test('a mark that can not be drawn leaves the monogram', async () => {
    const page = await open('long');
    await page.getByText('OS', { exact: true }).waitFor();
    expect(await page.locator('.cf-mark').count()).toBe(0);
  });

  test('a field comes and goes with its condition', async () => {
    const page = await open('create');
    const show = (shown: boolean): Promise<void> =>
      page.evaluate((on) => (window as unknown as GalleryWindow).form.setShown('/settings/start', on), shown);
    await show(false);
    expect(await page.getByLabel('Start from').count()).toBe(0);
    await show(true);
    expect(await page.getByLabel('Start from').isVisible()).toBe(true);
  });

  test('a keystroke touches its own field and nothing else', async () => {
    const page = await open('kinds');
    await page.evaluate(() => {
      const touched = new Set<string>();
      Object.assign(window, { touched });
      new MutationObserver((records) => {
        for (const { target } of records) {
          const element = target instanceof Element ? target : target.parentElement;
          touched.add(element?.closest('.cf-field')?.querySelector('.cf-label')?.textContent ?? 'page');
        }
      }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    });
    await page.getByLabel('Schedule').fill('0 0 * * *');
    await page.getByLabel('Account').fill('x');
    expect(await page.evaluate(() => [...(window as unknown as { touched: Set<string> }).touched])).toEqual([
      'Schedule',
    ]);
  });
});

describe('files', () => {
  const choose = async (page: Page, label: string, name: string, content: string | Buffer): Promise<void> => {
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: `Choose a file for ${label}` }).click(),
    ]);
    await chooser.setFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content) });
  };

  test('a document is read in the frame, for a secret too, and nothing is sent', async () => {
    const page = await open('kinds-empty');
    requests = [];
    await choose(page, 'Service account key', 'key.json', '{\r\n"a": 1}');
    await page.getByText('Read from key.json').first().waitFor();
    expect(await valueOf(page, '/secrets/service_account')).toBe('{\n"a": 1}');
    await page.getByLabel('Service account key').fill('{}');
    expect(await page.locator('.cf-help', { hasText: 'Read from' }).count()).toBe(0);
    expect(requests).toEqual([]);
  });

  test('too large and unreadable files are refused in words, and what was there stays', async () => {
    const page = await open('kinds');
    await choose(page, 'CA certificate', 'big.pem', 'x'.repeat(70_000));
    await page.locator('.cf-error', { hasText: 'too large' }).waitFor();
    await choose(page, 'CA certificate', 'binary.pem', Buffer.from([0, 159, 146, 150]));
    await page.locator('.cf-error', { hasText: 'could not be read' }).waitFor();
    expect(await valueOf(page, '/settings/certificate')).toBeUndefined();
  });

  test('a dropped file is read as well', async () => {
    const page = await open('kinds-empty');
    await page.getByLabel('CA certificate').evaluate((area) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['-----BEGIN-----'], 'ca.pem'));
      for (const type of ['dragover', 'drop']) {
        area.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      }
    });
    await page.locator('.cf-help', { hasText: 'Read from ca.pem' }).waitFor();
    expect(await valueOf(page, '/settings/certificate')).toBe('-----BEGIN-----');
  });
});

describe('secrets', () => {
  const secrets = ['WWWWWWWWWWWWWWWW-XXX', 'i', 'long '.repeat(400), '<img src=x>&"\'', 'ÄÖÜ ﷽ 漢字 🙂'];

  test('a typed secret is in no attribute, text, address or title, masked or shown', async () => {
    const page = await open('kinds-empty');
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(window, { seen });
      const record = (): void => {
        const roots = [...document.querySelectorAll('cf-secret')].map((element) => element.shadowRoot?.innerHTML ?? '');
        seen.push(document.documentElement.outerHTML, ...roots, document.title, location.href);
      };
      const observer = new MutationObserver(record);
      const watched = { subtree: true, childList: true, attributes: true, characterData: true };
      observer.observe(document, watched);
      for (const element of document.querySelectorAll('cf-secret')) {
        if (element.shadowRoot) observer.observe(element.shadowRoot, watched);
      }
      addEventListener('input', record);
    });
    for (const label of ['API token', 'Signing key', 'Service account key', 'Passphrases']) {
      await page.getByLabel(label).fill('canary-7f3k');
      await page.getByRole('button', { name: `Show ${label}` }).click();
      await page.getByRole('button', { name: `Hide ${label}` }).click();
    }
    const seen = await page.evaluate(() => (window as unknown as { seen: string[] }).seen);
    expect(seen.length).toBeGreaterThan(20);
    expect(seen.filter((text) => text.includes('canary'))).toEqual([]);
  });

  test('under hostile style sheets, heights and requests are the same for any secret', async () => {
    const traces = [];
    for (const secret of secrets) {
      const page = await open('kinds-empty');
      await page.evaluate((origin) => {
        const sheet = new CSSStyleSheet();
        const faces = ['system-ui', 'sans-serif', 'monospace', 'Arial', 'Times New Roman'].flatMap((family) =>
          [...'WXilongabc•'].map(
            (letter) =>
              `@font-face { font-family: "${family}"; unicode-range: U+${(letter.codePointAt(0) ?? 0).toString(16)};` +
              ` src: url("${origin}/leak/${encodeURIComponent(letter)}"); }`,
          ),
        );
        sheet.replaceSync(`
          ${faces.join('\n')}
          @property --cf-text { syntax: '<length>'; inherits: true; initial-value: 40px; }
          @keyframes grow { to { height: 300px; --cf-radius: 90px; } }
          * { --cf-field: url("${origin}/leak/token"); --cf-radius: 1em; font: 900 60px/3 "system-ui" !important;
              letter-spacing: 1em !important; -webkit-text-security: none !important; }
          cf-secret, cf-secret * { height: auto !important; block-size: max-content !important; contain: none !important;
              display: inline-block !important; width: max-content !important; field-sizing: content !important;
              overflow: visible !important; animation: grow 1s infinite !important; transition: all 1s !important;
              white-space: pre-wrap !important; writing-mode: vertical-lr !important; }
          cf-secret::part(control), cf-secret::before { content: attr(value); }
        `);
        document.adoptedStyleSheets.push(sheet);
      }, site.origin);
      requests = [];
      for (const label of ['API token', 'Service account key', 'Passphrases']) {
        await page.getByLabel(label).fill(secret);
        await page.getByRole('button', { name: `Show ${label}` }).click();
      }
      await page.evaluate(async () => {
        await document.fonts.ready;
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      });
      const boxes = await page.evaluate(() =>
        [...document.querySelectorAll('cf-secret, .cf-root, .cf-footer')].map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return [x, y, width, height];
        }),
      );
      const heights = await page.evaluate(() => (window as unknown as GalleryWindow).heights.at(-1));
      traces.push(JSON.stringify({ boxes, heights, leaked: requests.filter((path) => path.startsWith('/leak')) }));
    }
    console.log(traces.join('\n'));
    expect(new Set(traces).size).toBe(1);
    expect(traces[0]).toContain('"leaked":[]');
  });

  test('password managers are told to leave it alone, and it is masked until shown', async () => {
    const page = await open('create');
    const token = page.getByLabel('API token');
    const attributes = ['type', 'autocomplete', 'data-lpignore', 'data-form-type'];
    const read = (): Promise<(string | null)[]> =>
      token.evaluate((input, names) => names.map((name) => input.getAttribute(name)), attributes);
    expect(await read()).toEqual(['password', 'off', 'true', 'other']);
    expect(await token.evaluate((input) => getComputedStyle(input).getPropertyValue('-webkit-text-security'))).toBe(
      'disc',
    );
    await page.getByRole('button', { name: 'Show API token' }).click();
    expect(await read()).toEqual(['text', 'off', 'true', 'other']);
  });
});

describe('every state', () => {
  test.each(['light', 'dark'])('axe finds nothing in %s', async (theme) => {
    for (const scene of scenes) {
      const page = await open(scene, { query: `&theme=${theme}` });
      await page.evaluate(() => {
        for (const fold of document.querySelectorAll('details')) fold.open = true;
      });
      // The page's own policy rightly refuses inline scripts; the debugger does not ask it.
      await page.evaluate(axe);
      const found = await page.evaluate(async () => {
        const { axe: tool } = window as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } };
        const { violations } = await tool.run();
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
      });
      expect(found, scene).toEqual([]);
      await page.context().close();
    }
  });

  test.each([320, 900])(
    'nothing is cut off at %i px, in either direction of writing, and the height is told',
    async (width) => {
      for (const scene of scenes) {
        for (const dir of ['ltr', 'rtl']) {
          const page = await open(scene, { width, query: `&dir=${dir}` });
          await page.evaluate(
            () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
          );
          const { over, told, height } = await page.evaluate(() => ({
            over: document.documentElement.scrollWidth - innerWidth,
            told: (window as unknown as GalleryWindow).heights,
            height: Math.ceil(document.querySelector('.cf-root')?.getBoundingClientRect().height ?? 0),
          }));
          expect(over, `${scene} ${dir}`).toBeLessThanOrEqual(0);
          expect(told, `${scene} ${dir}`).toEqual([height]);
          await page.context().close();
        }
      }
    },
  );
});

interface AxeViolation {
  id: string;
  nodes: { html: string }[];
}
