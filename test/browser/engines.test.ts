import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openClipboard } from '../support/engines/clipboard.js';
import type { DrivenPage } from '../support/engines/driven.js';
import { launchEngine } from '../support/engines/engines.js';
import { frameUser } from '../support/engines/frame-user.js';
import { heapStrings } from '../support/engines/heap.js';
import { inEngines } from '../support/engines/in-engines.js';
import { pressKeys } from '../support/engines/keys.js';
import { limits } from '../support/engines/limits.js';
import { locate, searchOf } from '../support/engines/locate.js';
import { serve } from '../support/serve.js';

// Preconditions of the other suites: in every engine, a cross-site frame receives real key and
// pointer events.

declare global {
  /** In the frame: the events it received, and whether they were trusted. */
  var events: [type: string, isTrusted: boolean, detail: string][];
}

const inner = `<!doctype html><title>Inner</title><h2>Inner form</h2><div id="shadow"></div>
<script>
  globalThis.events = [];
  const root = document.querySelector('#shadow').attachShadow({ mode: 'open' });
  root.innerHTML = '<label>Name <input></label><input aria-label="Hidden" hidden><button>Send it</button>';
  for (const type of ['click', 'keydown', 'paste', 'input']) {
    root.addEventListener(type, (event) => {
      const detail = event.key ?? event.clipboardData?.getData('text') ?? event.inputType ?? event.target.localName;
      events.push([type, event.isTrusted, detail]);
    });
  }
  onmessage = ({ data }) => parent.postMessage(data + ' back', '*');
</script>`;

let sites: { origin: string; close(): Promise<void> }[];

beforeAll(async () => {
  const form = await serve({ '/': inner }, 'localhost');
  const page = `<!doctype html><title>Host</title><button id="first">First</button><div id="host"></div><script>
    globalThis.got = [];
    globalThis.keys = [];
    onkeydown = ({ key }) => keys.push(key);
    onmessage = ({ data }) => got.push(data);
    const frame = Object.assign(document.createElement('iframe'), { src: '${form.origin}', width: 500, height: 300 });
    document.querySelector('#host').attachShadow({ mode: 'open' }).append(frame);
    frame.onload = () => frame.contentWindow.postMessage('there and', '*');
  </script>`;
  sites = [await serve({ '/': page }, '127.0.0.1'), form];
});
afterAll(() => Promise.all((sites ?? []).map((site) => site.close())));

inEngines('a cross-site frame', ['Chromium'], ({ engine, browser, testUnless }) => {
  async function open(): Promise<DrivenPage> {
    const page = await browser().newPage();
    await page.goto(sites[0]?.origin ?? '');
    return page;
  }

  test('can be read and written, and its messages reach the page', async () => {
    const page = await open();
    const user = frameUser(page);
    const frame = await user.frame();
    expect(await frame.evaluate(() => [location.hostname, document.title])).toEqual(['localhost', 'Inner']);
    expect(await frame.url()).toBe(`${sites[1]?.origin}/`);
    expect(await page.evaluate((given) => [given, location.hostname, document.title], { a: [1, null, 'x'] })).toEqual([
      { a: [1, null, 'x'] },
      '127.0.0.1',
      'Host',
    ]);
    expect(await page.title()).toBe('Host');
    expect(await page.evaluate(() => undefined)).toBeUndefined();
    await expect(page.evaluate(() => Promise.reject(new Error('thrown in the page')))).rejects.toThrow(
      'thrown in the page',
    );
    await expect.poll(() => page.evaluate(() => Object(globalThis).got)).toEqual(['there and back']);
    await page.close();
  });

  test('exposes visible elements by role and label in its open shadow root', async () => {
    const page = await open();
    const user = frameUser(page);
    const tagOf = async (target: Parameters<typeof user.find>[0]) =>
      (await user.find(target)).evaluate((element) => element.localName);
    expect(await tagOf({ role: 'heading', name: 'Inner form' })).toBe('h2');
    expect(await tagOf({ role: 'button', name: 'Send it' })).toBe('button');
    expect(await tagOf({ selector: 'label' })).toBe('label');
    const frame = await user.frame();
    await user.find({ label: 'Name' });
    const hidden = await frame.evaluateHandle(locate, searchOf({ label: 'Hidden' }));
    expect(hidden.asElement()).toBeNull();
    await page.close();
  });

  test('receives trusted clicks, keys and pastes, with keys at the focused element', async () => {
    const page = await open();
    const user = frameUser(page);
    await user.type('Name', 'aß漢 {}');
    await user.press('Send it');
    await user.focus({ label: 'Name' });
    await pressKeys(page.keyboard, 'Control+a');
    await pressKeys(page.keyboard, 'Control+c');
    await page.keyboard.press('End');
    await pressKeys(page.keyboard, 'Control+v');
    await expect.poll(() => user.value('Name')).toBe('aß漢 {}aß漢 {}');
    const frame = await user.frame();
    const seen = await frame.evaluate(() => events);
    expect(seen.filter(([, isTrusted]) => !isTrusted)).toEqual([]);
    expect(seen).toContainEqual(['keydown', true, 'a']);
    expect(seen).toContainEqual(['click', true, 'button']);
    expect(seen).toContainEqual(['paste', true, 'aß漢 {}']);
    expect(seen.filter(([type]) => type === 'paste')).toHaveLength(1);

    await page.focus('#first');
    await page.keyboard.type('x');
    await page.keyboard.press('Tab');
    // The browser moves the focus to another process.
    await expect.poll(() => frame.evaluate(() => document.hasFocus())).toBe(true);
    await page.keyboard.type('by Tab');
    await pressKeys(page.keyboard, 'Shift+Tab');
    await page.keyboard.type('y');
    await expect.poll(() => page.evaluate(() => Object(globalThis).keys)).toEqual(['x', 'Tab', 'y']);
    expect(await user.value('Name')).toMatch(/^[^x]*by Tab$/);
    await page.close();
  });

  test('receives text copied in another page as one paste', async () => {
    const clipboard = await openClipboard(browser());
    for (const text of ['first secret', 'zweites Geheimnis ß漢']) {
      await clipboard.copy(text);
      const page = await open();
      const user = frameUser(page);
      await user.focus({ label: 'Name' });
      await pressKeys(page.keyboard, 'Control+v');
      await expect.poll(() => user.value('Name')).toBe(text);
      const seen = await (await user.frame()).evaluate(() => events);
      expect(seen.filter(([type]) => type === 'paste' || type === 'input')).toEqual([
        ['paste', true, text],
        ['input', true, 'insertFromPaste'],
      ]);
      await page.close();
    }
    await clipboard.close();
  });

  testUnless('heapSnapshot', 'runs in another process', async () => {
    const page = await open();
    const marker = randomUUID();
    await (await frameUser(page).frame()).evaluate((text) => void Object.assign(globalThis, { text }), marker);
    const isOnHeap = async (): Promise<boolean> => (await heapStrings(page)).includes(marker);
    expect(await isOnHeap()).toBe(false);
    await page.evaluate((text) => void Object.assign(globalThis, { text }), marker);
    expect(await isOnHeap()).toBe(true);
    await page.close();
  });

  test('is included in screenshots of the page', async () => {
    const page = await open();
    const png = await page.screenshot({ clip: { x: 5, y: 5, width: 20, height: 10 } });
    const view = new DataView(png.buffer, png.byteOffset);
    expect([view.getUint32(16), view.getUint32(20)]).toEqual([20, 10]);
    await page.close();
  });

  test('runs next to a second page and a second browser', async () => {
    const other = await launchEngine(engine);
    const pages = [await open(), await open(), await other.newPage()];
    await pages[2]?.goto(sites[0]?.origin ?? '');
    const texts = [];
    for (const [index, page] of pages.entries()) {
      const user = frameUser(page);
      await user.type('Name', `page ${index}`);
      texts.push(await user.value('Name'));
    }
    expect(texts).toEqual(['page 0', 'page 1', 'page 2']);
    for (const page of pages) await page.close();
    await other.close();
  });

  describe('limits', () => {
    test.each(Object.entries(limits))('%s matches the list', async (_name, { engines, probe }) => {
      const page = await open();
      expect(await probe(page)).toBe(engines[engine] === undefined);
      await page.close();
    });
  });
});
