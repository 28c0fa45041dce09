import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import { launchBrowser } from './browser.js';
import { serve } from './serve.js';

/** Globals of the gallery page. */
declare global {
  var form: {
    values: Map<string, unknown>;
    calls: string[];
    actionDone: () => Promise<void>;
    save: () => Promise<void>;
    change(part: object): void;
    setShown(path: string, shown: boolean): void;
  };
  /** Reported heights in CSS pixels, in order. */
  var heights: number[];
  /** Releases a held save or test. */
  var release: () => void;
}

interface SceneOptions extends BrowserContextOptions {
  /** Appended to the URL: `&theme=dark&dir=rtl`. */
  query?: string;
  /** CSS pixels. */
  width?: number;
}

/**
 * The gallery of the form's view for the tests of one file, built as it ships and served under the
 * frame's own policy.
 */
export interface Gallery {
  readonly origin: string;
  /** Paths requested since the last `open`. */
  readonly requests: string[];
  /** Policy violations, console messages and script errors since the last `open`. */
  readonly problems: string[];
  /** Shows a scene in a new browser context, closed after the test. */
  open(scene: string, options?: SceneOptions): Promise<Page>;
  /** Opens the gallery without a scene, for `openLive`. */
  live(options?: Omit<SceneOptions, 'query'>): Promise<Page>;
  /** Shows another scene in the same page. */
  visit(page: Page, scene: string, query?: string): Promise<void>;
}

/** Starts the gallery before the tests of a file and stops it after them. */
export function useGallery(): Gallery {
  let browser: Browser;
  let site: Awaited<ReturnType<typeof serve>>;
  const contexts: BrowserContext[] = [];
  const requests: string[] = [];
  const problems: string[] = [];

  beforeAll(async () => {
    const files = await buildGallery();
    const policy = policyOf(String(files.get('/index.html')));
    site = await serve((request, response) => {
      const path = new URL(request.url ?? '/', 'http://any').pathname;
      requests.push(decodeURIComponent(path));
      const file = files.get(path === '/' ? '/index.html' : path);
      if (file === undefined) {
        response.writeHead(404).end();
        return;
      }
      const type = path.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8';
      response.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(file);
    });
    browser = await launchBrowser();
  });

  afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  const visit = async (page: Page, scene: string, query = ''): Promise<void> => {
    await page.goto(`${site.origin}/?scene=${scene}${query}`);
    await page.waitForFunction(() => 'form' in window);
  };

  return {
    get origin() {
      return site.origin;
    },
    requests,
    problems,
    visit,
    async live(options) {
      const page = await newPage(options);
      await page.goto(`${site.origin}/?live`);
      await page.waitForFunction(() => 'openLive' in window);
      return page;
    },
    async open(scene, { query = '', ...options } = {}) {
      const page = await newPage(options);
      await visit(page, scene, query);
      requests.length = 0;
      problems.length = 0;
      return page;
    },
  };

  async function newPage({ width = 560, ...options }: Omit<SceneOptions, 'query'> = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      timezoneId: 'Europe/Berlin',
      reducedMotion: 'reduce',
      ...options,
    });
    contexts.push(context);
    const page = await context.newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    return page;
  }
}

async function buildGallery(): Promise<Map<string, string | Uint8Array>> {
  // Vitest's value of NODE_ENV would select Lit's development build.
  vi.stubEnv('NODE_ENV', 'production');
  const built = await build({
    root: fileURLToPath(new URL('../../packages/form/gallery', import.meta.url)),
    configFile: fileURLToPath(new URL('../../vite.config.ts', import.meta.url)),
    mode: 'form',
    logLevel: 'error',
    build: { write: false },
  });
  vi.unstubAllEnvs();
  if (!('output' in built)) throw new Error('Vite built something else than one bundle');
  return new Map(
    built.output.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : file.source] as const),
  );
}

/**
 * Returns the policy of the frame's page, with the hashes of its style elements. Fonts may load, so
 * that a leak through them becomes visible.
 */
function policyOf(html: string): string {
  const hashes = [...html.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/g)].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
  return [
    `default-src 'none'; script-src 'self'; style-src ${hashes.join(' ')}; img-src 'self' data:; font-src *`,
    "form-action 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types lit-html",
  ].join('; ');
}

/** Returns a value held by the fake form. */
export const valueOf = (page: Page, path: string): Promise<unknown> =>
  page.evaluate((at) => globalThis.form.values.get(at), path);

/** Makes the form's saves and tests wait for `release`. */
export const hold = (page: Page): Promise<void> =>
  page.evaluate(() => {
    form.actionDone = () => new Promise((resolve) => void (globalThis.release = resolve));
  });

/** Returns the calls to the fake form, except for leaving fields. */
export const callsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => globalThis.form.calls.filter((call) => !call.startsWith('leave')));

/** Returns the name of the focused element, through shadow roots. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    if (!element || element === document.body) return 'nothing';
    const label =
      element instanceof HTMLInputElement || element instanceof HTMLSelectElement
        ? element.labels?.[0]?.textContent
        : undefined;
    return (element.getAttribute('aria-label') ?? label ?? element.textContent).trim().replace(/\s+/g, ' ');
  });

/** Returns the text of the live regions. */
export const status = async (page: Page): Promise<string> =>
  (await page.getByRole('status').allTextContents()).join(' ').replaceAll(/\s+/g, ' ').trim();

/** Waits two animation frames, so that pending work has been painted. */
export const painted = (page: Page): Promise<unknown> =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
