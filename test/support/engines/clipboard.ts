import type { DrivenBrowser } from './driven.js';
import { pressKeys } from './keys.js';

/** The clipboard shared by the pages of a browser. */
export interface Clipboard {
  /** Copies a text by selecting it and pressing the copy keys. */
  copy(text: string): Promise<void>;
  /** Closes the page the text was copied in. WebKit then clears the clipboard. */
  close(): Promise<void>;
}

/**
 * Opens a page to copy from. Open it before the page to paste into, which must keep focus.
 * @example
 * const clipboard = await openClipboard(browser);
 * await clipboard.copy('secret');
 * const page = await openHost(browser, world);
 * await frameUser(page).focus({ label: 'API token' });
 * await pressKeys(page.keyboard, 'Control+v');
 */
export async function openClipboard(browser: DrivenBrowser): Promise<Clipboard> {
  const page = await browser.newPage();
  await page.goto('data:text/html,<!doctype html><textarea></textarea>');
  return {
    async copy(text) {
      await page.evaluate((given) => {
        const area = document.querySelector('textarea');
        if (!area) return;
        area.value = given;
        area.focus();
        area.select();
      }, text);
      await pressKeys(page.keyboard, 'Control+c');
    },
    close: () => page.close(),
  };
}
