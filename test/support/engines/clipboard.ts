import type { DrivenBrowser } from './driven.js';
import { pressKeys } from './keys.js';

/** The clipboard that the pages of a browser share. */
export interface Clipboard {
  /** Puts a text on it, by selecting and copying it as a person does. */
  copy(text: string): Promise<void>;
  /** Closes the page that the text was copied in; WebKit forgets the text with it. */
  close(): Promise<void>;
}

/**
 * Opens a page to copy from. Open it before the page that is pasted into, which keeps focus then.
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
