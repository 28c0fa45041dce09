import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { painted, useGallery, valueOf } from '../support/gallery.js';

// A secret control handles its own edits and draws its own text (decisions/017). It must still
// behave like a text field.

const gallery = useGallery();
const LINE = '/secrets/signing_key';
const AREA = '/secrets/service_account';

const line = (page: Page) => page.getByLabel('Signing key');
const area = (page: Page) => page.getByLabel('Service account key');
const note = (page: Page, path = LINE) =>
  page.evaluate(
    (id) => document.getElementById(id)?.shadowRoot?.getElementById('note')?.textContent?.trim(),
    `cf${path}`,
  );
const selection = (page: Page) =>
  line(page).evaluate((input) =>
    input instanceof HTMLInputElement ? [input.selectionStart, input.selectionEnd, input.selectionDirection] : [],
  );

/**
 * Returns the control's pixels without its rounded corners and the space for a note, where the page
 * shows through.
 */
async function pixels(page: Page): Promise<string> {
  await settled(page);
  await page.mouse.move(0, 0);
  const control = page.locator(`[id="cf${LINE}"]`);
  await control.scrollIntoViewIfNeeded();
  await painted(page);
  const image = sharp(await control.screenshot({ caret: 'initial' }));
  const { width } = await image.metadata();
  return (
    await image
      .extract({ left: 10, top: 1, width: width - 20, height: 66 })
      .raw()
      .toBuffer()
  ).toString('base64');
}

/** Waits until every pending edit was applied or dropped. */
const settled = (page: Page): Promise<void> =>
  page.evaluate(async (id) => {
    const control = document.getElementById(id) as unknown as { settled(): Promise<void> };
    await control.settled();
  }, `cf${LINE}`);

async function open(options: Parameters<typeof gallery.open>[1] = {}): Promise<Page> {
  const page = await gallery.open('kinds-empty', options);
  await line(page).focus();
  return page;
}

describe('by keyboard', () => {
  test('types, moves, selects, deletes', async () => {
    const page = await open();
    await page.keyboard.type('abc def');
    await page.keyboard.press('Home');
    await page.keyboard.type('1');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.type('2');
    await page.keyboard.press('Delete');
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await expect.poll(() => valueOf(page, LINE)).toBe('1a2c de');
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Shift+ArrowLeft');
    expect(await selection(page)).toEqual([5, 7, 'backward']);
    await page.keyboard.type('x');
    await expect.poll(() => valueOf(page, LINE)).toBe('1a2c x');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('y');
    await expect.poll(() => valueOf(page, LINE)).toBe('y');
  });

  test('moves by words once shown', async () => {
    const page = await open();
    await page.keyboard.type('one two');
    await page.keyboard.press('Control+ArrowLeft');
    expect(await selection(page)).toEqual([0, 0, 'forward']);
    await page.getByRole('button', { name: 'Show Signing key' }).click();
    await line(page).focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Control+ArrowLeft');
    expect(await selection(page)).toEqual([4, 4, 'forward']);
    await page.keyboard.press('Control+Delete');
    await expect.poll(() => valueOf(page, LINE)).toBe('one ');
  });

  test('undoes and redoes', async () => {
    const page = await open();
    await page.keyboard.type('ab');
    await page.keyboard.press('Control+Z');
    await expect.poll(() => valueOf(page, LINE)).toBe('a');
    await page.keyboard.press('Control+Shift+Z');
    await expect.poll(() => valueOf(page, LINE)).toBe('ab');
    await page.keyboard.press('Control+Z');
    await page.keyboard.press('Control+Z');
    await page.keyboard.press('Control+Z');
    await expect.poll(() => valueOf(page, LINE)).toBe('');
    await page.keyboard.press('Control+Y');
    await expect.poll(() => valueOf(page, LINE)).toBe('a');
  });

  test('supports several lines and moves between them', async () => {
    const page = await gallery.open('kinds-empty');
    await area(page).focus();
    await page.keyboard.type('ab');
    await page.keyboard.press('Enter');
    await page.keyboard.type('cdef');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.type('X');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Home');
    await page.keyboard.type('Y');
    await expect.poll(() => valueOf(page, AREA)).toBe('abX\nYcdef');
  });

  test('leaves by Tab, and Enter saves', async () => {
    const page = await open();
    await page.keyboard.type('abc');
    await expect.poll(() => valueOf(page, LINE)).toBe('abc');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.tagName)).toBe('BUTTON');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.id)).not.toBe(`cf${LINE}`);
    await line(page).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => form.calls)).toContain('save');
  });
});

describe('by pointer', () => {
  test('a click places the caret, a drag selects, a double click selects all', async () => {
    const page = await open();
    await page.keyboard.type('abcdefghij');
    const box = await line(page).boundingBox();
    if (!box) throw new Error('not on the page');
    const cell = await line(page).evaluate(() => {
      const context = document.createElement('canvas').getContext('2d');
      if (!context) throw new Error('no canvas');
      context.font = '14px monospace';
      return context.measureText('0').width;
    });
    const at = (letters: number): [number, number] => [box.x + 13 + letters * cell, box.y + 20];
    await page.mouse.click(...at(3));
    expect(await selection(page)).toEqual([3, 3, 'forward']);
    await page.mouse.move(...at(2));
    await page.mouse.down();
    await page.mouse.move(...at(5));
    await page.mouse.up();
    expect(await selection(page)).toEqual([2, 5, 'forward']);
    await page.mouse.dblclick(...at(4));
    expect(await selection(page)).toEqual([0, 10, 'forward']);
    await page.mouse.click(box.x + box.width - 90, box.y + 20);
    expect(await selection(page)).toEqual([10, 10, 'forward']);
  });

  test('a tap focuses it, and a virtual keyboard without key names types into it', async () => {
    const page = await gallery.open('kinds-empty', { hasTouch: true, isMobile: true });
    await line(page).tap();
    // Emulates a virtual keyboard, which sends text but no key events.
    await page.keyboard.insertText('tok-');
    await page.keyboard.insertText('123');
    await expect.poll(() => valueOf(page, LINE)).toBe('tok-123');
  });

  test('it is the target of the context menu, where "Paste" is', async () => {
    const page = await open();
    await line(page).scrollIntoViewIfNeeded();
    const box = await line(page).boundingBox();
    if (!box) throw new Error('not on the page');
    await page.evaluate(() => {
      addEventListener('contextmenu', (event) => {
        const [element] = event.composedPath();
        document.title = element instanceof HTMLInputElement && !element.readOnly ? 'a text field' : 'something else';
      });
    });
    await page.mouse.click(box.x + box.width / 2, box.y + 20, { button: 'right' });
    expect(await page.title()).toBe('a text field');
  });
});

describe('text inserted as a whole', () => {
  test('is pasted, without line breaks in a single-line control', async () => {
    const page = await open();
    await page.getByLabel('Query').fill('tok-1\ntok-2');
    await page.getByLabel('Query').focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Control+C');
    await line(page).focus();
    await page.keyboard.type('[]');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Control+V');
    await expect.poll(() => valueOf(page, LINE)).toBe('[tok-1tok-2]');
    await area(page).focus();
    await page.keyboard.press('Control+V');
    await expect.poll(() => valueOf(page, AREA)).toBe('tok-1\ntok-2');
  });

  test('is dropped', async () => {
    const page = await open();
    await line(page).evaluate((input) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.setData('text/plain', 'tok-dropped');
      input.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true, composed: true }));
    });
    await expect.poll(() => valueOf(page, LINE)).toBe('tok-dropped');
  });

  test('is not copied or cut while it is masked', async () => {
    const page = await gallery.open('kinds-empty');
    await area(page).fill('tok-secret');
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Control+X');
    await page.getByLabel('Query').focus();
    await page.keyboard.press('Control+V');
    expect(await page.getByLabel('Query').inputValue()).not.toContain('tok-secret');
    await expect.poll(() => valueOf(page, AREA)).toBe('tok-secret');
  });

  test('is inserted by an input method', async () => {
    const page = await open();
    await page.keyboard.type('a');
    await page.getByRole('button', { name: 'Show Signing key' }).click();
    await line(page).focus();
    await page.keyboard.press('End');
    const session = await page.context().newCDPSession(page);
    await session.send('Input.imeSetComposition', { text: 'にほ', selectionStart: 2, selectionEnd: 2 });
    await session.send('Input.insertText', { text: '日本' });
    await expect.poll(() => valueOf(page, LINE)).toBe('a日本');
    await page.keyboard.press('Backspace');
    await expect.poll(() => valueOf(page, LINE)).toBe('a日');
  });
});

describe('the drawn text', () => {
  test('is dots while masked, equal for equal lengths, and the characters once shown', async () => {
    const page = await open();
    const draw = async (text: string): Promise<string> => {
      await line(page).fill(text);
      await page.getByLabel('Account', { exact: true }).focus();
      return pixels(page);
    };
    const [one, other, longer] = [await draw('iiii'), await draw('WWWW'), await draw('iiiii')];
    expect(one).toBe(other);
    expect(one).not.toBe(longer);
    await page.getByRole('button', { name: 'Show Signing key' }).click();
    const shown = [await draw('iiii'), await draw('WWWW')];
    expect(shown[0]).not.toBe(shown[1]);
  });

  test('follows the caret in text longer than the box', async () => {
    const page = await open({ width: 320 });
    await line(page).fill(`${'a'.repeat(80)}${'b'.repeat(80)}`);
    await page.getByRole('button', { name: 'Show Signing key' }).click();
    await line(page).focus();
    await page.keyboard.press('End');
    const end = await pixels(page);
    await page.keyboard.press('Home');
    const start = await pixels(page);
    expect(start).not.toBe(end);
    await page.keyboard.press('End');
    expect(await pixels(page)).toBe(end);
  });
});

describe('a control that is not visible takes no input (S30)', () => {
  test('while partly out of view: reports it, and takes input once visible', async () => {
    const page = await open();
    await page.keyboard.type('ab');
    await settled(page);
    await page.setViewportSize({ width: 560, height: 40 });
    await expect.poll(() => note(page)).toBe('Scroll until you see all of this field, then type.');
    await page.keyboard.type('c');
    await page.keyboard.insertText('c');
    await page.keyboard.press('Backspace');
    await settled(page);
    await expect.poll(() => valueOf(page, LINE)).toBe('ab');
    await page.setViewportSize({ width: 560, height: 900 });
    await expect.poll(() => note(page)).toBe('');
    await page.keyboard.type('d');
    await expect.poll(() => valueOf(page, LINE)).toBe('abd');
  });

  test('while covered, also from an input method', async () => {
    const page = await open();
    await page.keyboard.type('a');
    await expect.poll(() => valueOf(page, LINE)).toBe('a');
    // A sheet can't cover the control, but the top layer of the surrounding page can; this popover
    // simulates that.
    await page.evaluate(() => {
      const cover = document.createElement('div');
      cover.popover = 'manual';
      cover.style.cssText = 'inset: 0; width: 100%; height: 100%; opacity: 0.99; pointer-events: none';
      document.body.append(cover);
      cover.showPopover();
    });
    await expect.poll(() => note(page)).toContain('covers or distorts this field');
    await page.keyboard.type('b');
    await page.keyboard.insertText('c');
    await settled(page);
    await expect.poll(() => valueOf(page, LINE)).toBe('a');
    await page.evaluate(() => document.querySelector('body > [popover]')?.remove());
    await expect.poll(() => note(page)).toBe('');
    await page.keyboard.type('d');
    await expect.poll(() => valueOf(page, LINE)).toBe('ad');
  });

  test('and no file', async () => {
    const page = await gallery.open('kinds-empty');
    await page.setViewportSize({ width: 560, height: 60 });
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Choose a file for Service account key' }).click(),
    ]);
    await chooser.setFiles({ name: 'key.json', mimeType: 'application/json', buffer: Buffer.from('{"a":1}') });
    await expect.poll(() => note(page, AREA)).toContain('Scroll until');
    expect(await valueOf(page, AREA)).toBeUndefined();
  });

  test('but input before the first visibility report waits for it', async () => {
    const page = await gallery.open('kinds-empty');
    await page.evaluate(() => scrollTo(0, 0));
    // The field is far below the viewport: focus scrolls to it, and the keys arrive at the same
    // time.
    await area(page).fill('{"typed": "at once"}');
    await expect.poll(() => valueOf(page, AREA)).toBe('{"typed": "at once"}');
  });
});

describe('style sheets of the page (S31)', () => {
  const covers = [
    'body::after { content: ""; position: fixed; inset: 0; z-index: 2147483647; background: white; pointer-events: none }',
    '.cf-field::after { content: "Sent to trusted.example"; position: absolute; inset: 0; background: white; z-index: 9999 }',
    '.cf-label { box-shadow: 0 60px 0 40px white; text-shadow: 0 60px black }',
    '.cf-field, .cf-body { opacity: 0.01; filter: blur(20px); clip-path: inset(0 0 90% 0) }',
    '.cf-slot, .cf-field { visibility: hidden; color: transparent }',
    'cf-secret { opacity: 0 !important; clip-path: circle(0) !important; visibility: hidden !important; z-index: -1 !important }',
  ];
  test.each(covers)("cannot hide the secret's destination: %s", async (css) => {
    const page = await open();
    await page.keyboard.type('abc');
    await expect.poll(() => valueOf(page, LINE)).toBe('abc');
    await page.getByLabel('Passphrases').focus();
    const before = await pixels(page);
    await page.evaluate((text) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      document.adoptedStyleSheets.push(sheet);
    }, css);
    expect(await pixels(page)).toBe(before);
  });
});
