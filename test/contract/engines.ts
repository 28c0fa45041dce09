import { existsSync } from 'node:fs';
import { launch } from 'puppeteer-core';
import { launchBrowser } from '../support/browser.js';
import type { DrivenBrowser } from './driven.js';

export type EngineName = 'Chromium' | 'Firefox';

const firefox =
  process.env['FIREFOX_PATH'] ?? ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path));

/** Chromium is a must; `npm test` installs Firefox where it can and says so where it can't. */
export const engines: { name: EngineName; missing: boolean }[] = [
  { name: 'Chromium', missing: false },
  { name: 'Firefox', missing: firefox === undefined },
];

/**
 * A headless browser, with the site isolation of a normal one; the caller closes it. Two drivers, as there is no one for
 * both: Playwright wants a Firefox of its own, and Puppeteer loses frames of other sites in Chromium.
 */
export async function launchEngine(name: EngineName): Promise<DrivenBrowser> {
  if (name === 'Chromium') {
    const browser = await launchBrowser();
    return {
      async newPage() {
        // Playwright would make every frame light, whatever its page says.
        const page = await browser.newPage({ colorScheme: null });
        // A click on what has moved out of sight is given up, so that it can be scrolled to again.
        page.setDefaultTimeout(3_000);
        page.setDefaultNavigationTimeout(30_000);
        return page;
      },
      close: () => browser.close(),
    };
  }
  if (firefox === undefined) throw new Error('No Firefox: run `npm test`, which finds or installs one.');
  const browser = await launch({ browser: 'firefox', executablePath: firefox, headless: true });
  return browser as unknown as DrivenBrowser;
}
