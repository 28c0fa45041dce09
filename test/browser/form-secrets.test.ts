import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { painted, useGallery, valueOf } from '../support/gallery.js';

const gallery = useGallery();

declare global {
  /** Everything in the page that a style sheet or log could leak, recorded at each change. */
  var seen: string[];
}

const choose = async (page: Page, label: string, name: string, content: string | Buffer): Promise<void> => {
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: `Choose a file for ${label}` }).click(),
  ]);
  await chooser.setFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content) });
};

describe('files', () => {
  test('reads a file in the frame, also for a secret, without sending it', async () => {
    const page = await gallery.open('kinds-empty');
    gallery.requests.length = 0;
    await choose(page, 'Service account key', 'key.json', '{\r\n"a": 1}');
    await page.getByText('Read from key.json').first().waitFor();
    expect(await valueOf(page, '/secrets/service_account')).toBe('{\n"a": 1}');
    await page.getByLabel('Service account key').fill('{}');
    expect(await page.locator('.cf-help', { hasText: 'Read from' }).count()).toBe(0);
    expect(gallery.requests).toEqual([]);
  });

  test('rejects too large and unreadable files with a message and keeps the value', async () => {
    const page = await gallery.open('kinds');
    await choose(page, 'CA certificate', 'big.pem', 'x'.repeat(70_000));
    await page.locator('.cf-error', { hasText: 'too large' }).waitFor();
    await choose(page, 'CA certificate', 'binary.pem', Buffer.from([0, 159, 146, 150]));
    await page.locator('.cf-error', { hasText: 'could not be read' }).waitFor();
    expect(await valueOf(page, '/settings/certificate')).toBeUndefined();
  });

  test('reads a dropped file', async () => {
    const page = await gallery.open('kinds-empty');
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

test('a file dropped outside the control does not replace the form', async () => {
  const page = await gallery.open('create');
  const refused = await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['x'], 'x.pem'));
    return ['dragover', 'drop'].map(
      (type) => !document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })),
    );
  });
  expect(refused).toEqual([true, true]);
});

describe('secrets', () => {
  // These letters occur nowhere else on the page, so a request for a font with one of them reveals
  // what was typed.
  const secrets = ['ЖЖЖЖЖЖЖЖЖЖЖЖ', 'i', 'long '.repeat(400), 'Ф\nЮ\nЯ', 'ÄÖÜ ﷽ 漢字 🙂'];

  test('a typed secret is in no attribute, text, URL or title, masked or shown', async () => {
    const page = await gallery.open('kinds-empty');
    await page.evaluate(() => {
      globalThis.seen = [];
      const observer = new MutationObserver(() => {
        const roots = [...document.querySelectorAll('cf-secret')].map((element) => element.shadowRoot?.innerHTML ?? '');
        seen.push(document.documentElement.outerHTML, ...roots, document.title, location.href);
      });
      const watched = { subtree: true, childList: true, attributes: true, characterData: true };
      observer.observe(document, watched);
      for (const element of document.querySelectorAll('cf-secret')) {
        if (element.shadowRoot) observer.observe(element.shadowRoot, watched);
      }
      // Also record after a keystroke that does not change the document.
      addEventListener('input', () => document.documentElement.toggleAttribute('data-typed'));
    });
    for (const label of ['API token', 'Signing key', 'Service account key', 'Passphrases']) {
      await page.getByLabel(label).fill('canary-7f3k');
      await page.getByRole('button', { name: `Show ${label}` }).click();
      await page.getByRole('button', { name: `Hide ${label}` }).click();
    }
    const looks = await page.evaluate(() => seen);
    expect(looks.length).toBeGreaterThan(20);
    expect(looks.filter((text) => text.includes('canary'))).toEqual([]);
  });

  test('heights and requests are the same for any secret under hostile style sheets', async () => {
    const traces = [];
    for (const secret of secrets) {
      const page = await gallery.open('kinds-empty');
      await page.evaluate((origin) => {
        const sheet = new CSSStyleSheet();
        const faces = ['system-ui', 'sans-serif', 'monospace', 'Arial', 'Times New Roman'].flatMap((family) =>
          ['Ж', 'Ф', 'Ю', 'Я', 'Ä', '漢', 'Щ'].map(
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
      }, gallery.origin);
      gallery.requests.length = 0;
      // Positive control: the same attack on a field that is not secret is detected.
      await page.getByLabel('Account', { exact: true }).fill('Щ');
      for (const label of ['API token', 'Service account key', 'Passphrases']) {
        await page.getByLabel(label).fill(secret);
        await page.getByRole('button', { name: `Show ${label}` }).click();
      }
      await page.evaluate(async () => void (await document.fonts.ready));
      await painted(page);
      const boxes = await page.evaluate(() =>
        [...document.querySelectorAll('cf-secret, .cf-root, .cf-footer')].map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return [x, y, width, height];
        }),
      );
      const height = await page.evaluate(() => heights.at(-1));
      traces.push(JSON.stringify({ boxes, height, leaked: [...new Set(gallery.requests)].sort() }));
    }
    expect(new Set(traces).size).toBe(1);
    expect(traces[0]).toContain('/leak/Щ');
    expect(traces[0]).not.toMatch(/leak.[ЖФЮЯÄ漢]/);
  });

  test('opts out of password managers and is masked until shown', async () => {
    const page = await gallery.open('create');
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
