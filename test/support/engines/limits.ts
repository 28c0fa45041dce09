import type { DrivenPage, EngineName } from './driven.js';
import { logRequests } from '../request-log.js';
import { serve } from '../serve.js';
import { eventually } from './eventually.js';
import { frameUser } from './frame-user.js';

/** A feature that an engine lacks. Tests that need it are skipped there. */
export interface Limit {
  /** The engines that lack it, with the reason as the table in SECURITY.md prints it. */
  engines: Partial<Record<EngineName, string>>;
  /**
   * Tests for the feature on a page with a cross-site frame. `engines.test.ts` checks this list
   * against the result.
   */
  probe: (page: DrivenPage) => Promise<boolean>;
}

const limit = (one: Limit): Limit => one;

export const limits = {
  moveBefore: limit({
    engines: { WebKit: 'WebKitGTK 2.50 has no Element.moveBefore' },
    probe: (page) => page.evaluate(() => 'moveBefore' in Element.prototype),
  }),
  quietFrameReads: limit({
    engines: { WebKit: 'WebKitWebDriver moves focus into a frame when it reads it' },
    async probe(page) {
      const frame = await frameUser(page).frame();
      await page.focus('#first');
      await page.evaluate(() => addEventListener('blur', () => (document.title = 'blurred')));
      await frame.evaluate(() => document.title);
      return (await page.title()) !== 'blurred';
    },
  }),
  coepCredentialless: limit({
    engines: {
      WebKit: 'WebKitGTK 2.50 has no COEP: credentialless, so a page with COEP: require-corp blocks the form',
    },
    probe: (page) => isFrameHeard(page, { 'cross-origin-embedder-policy': 'require-corp' }),
  }),
  colorSchemeOfIframe: limit({
    engines: { WebKit: 'in WebKitGTK 2.50 the color-scheme of an iframe does not reach prefers-color-scheme in it' },
    async probe(page) {
      await page.evaluate(() => {
        const iframe = document.querySelector('#host')?.shadowRoot?.querySelector('iframe');
        iframe?.style.setProperty('color-scheme', 'dark');
      });
      const frame = await frameUser(page).frame();
      return frame.evaluate(() => {
        document.documentElement.style.colorScheme = 'light dark';
        return matchMedia('(prefers-color-scheme: dark)').matches;
      });
    },
  }),
  activationIsUsedUp: limit({
    engines: { WebKit: 'WebKitGTK 2.50 keeps user activation after each call that should use it up' },
    async probe(page) {
      await page.focus('#first');
      await page.keyboard.press('a');
      return page.evaluate(async () => {
        const before = navigator.userActivation.isActive;
        open('', 'used')?.close();
        await document
          .createElement('i')
          .requestFullscreen()
          .catch(() => undefined);
        return before && !navigator.userActivation.isActive;
      });
    },
  }),
  consoleEvents: limit({
    engines: { WebKit: 'WebKitWebDriver has no console events' },
    probe: async (page) => page.on !== undefined,
  }),
  heapSnapshot: limit({
    engines: {
      Firefox: 'WebDriver BiDi has no heap snapshots',
      WebKit: 'WebDriver has no heap snapshots',
    },
    probe: async (page) => 'context' in page,
  }),
  fieldSizing: limit({
    engines: {
      WebKit: 'WebKitGTK 2.50 has no field-sizing',
    },
    probe: (page) => page.evaluate(() => CSS.supports('field-sizing', 'content')),
  }),
  unicodeRange: limit({
    engines: { WebKit: 'WebKitGTK 2.50 loads every face of a family, whatever its unicode-range' },
    async probe(page) {
      const face = (letter: string): string => {
        const range = `U+${letter.charCodeAt(0).toString(16)}`;
        return `@font-face { font-family: probe; src: url(/${letter}); unicode-range: ${range} }`;
      };
      const body = `<style>${face('a')} ${face('b')} p { font-family: probe }</style><p>aaa</p>`;
      const site = await serve({ '/': body, '/a': '', '/b': '' });
      const log = logRequests();
      try {
        await page.goto(site.origin);
        await eventually('a font', async () => log.linesTo(site.origin).includes('GET /a') || undefined);
        // The engine requests all faces at once.
        await page.evaluate(() => document.fonts.ready.then(() => fetch('/last')).then(() => undefined));
        return !log.linesTo(site.origin).includes('GET /b');
      } finally {
        log.stop();
        await site.close();
      }
    },
  }),
  trackVisibility: limit({
    engines: {
      Firefox: 'Firefox 153 has no IntersectionObserver.trackVisibility',
      WebKit: 'WebKitGTK 2.50 has no IntersectionObserver.trackVisibility',
    },
    probe: (page) => page.evaluate(() => 'trackVisibility' in IntersectionObserver.prototype),
  }),
};

export type LimitName = keyof typeof limits;

/** Returns whether a frame with `COEP: credentialless` loads on a page with these headers. */
async function isFrameHeard(page: DrivenPage, headers: Record<string, string>): Promise<boolean> {
  const coep = { 'cross-origin-embedder-policy': 'credentialless', 'cross-origin-resource-policy': 'cross-origin' };
  const frame = await serve({ '/': { body: '<script>parent.postMessage(1, "*")</script>', headers: coep } });
  // A message pending when the frame has loaded arrives before a server's response.
  const script = `onmessage = () => (document.title = 'heard');
    onload = () => fetch('/').then(() => document.title || (document.title = 'blocked'));`;
  const body = `<script>${script}</script><iframe src="${frame.origin}"></iframe>`;
  const host = await serve({ '/': { body, headers } }, '127.0.0.1');
  try {
    await page.goto(host.origin);
    return (await eventually('a title', async () => (await page.title()) || undefined)) === 'heard';
  } finally {
    await Promise.all([host.close(), frame.close()]);
  }
}
