import { launchBrowser } from '../browser.js';
import type { DrivenBrowser } from './driven.js';

/**
 * Launches a headless Chromium through Playwright; Puppeteer loses track of its cross-site frames.
 */
export async function launchChromium(): Promise<DrivenBrowser> {
  const browser = await launchBrowser();
  return {
    async newPage() {
      // By default, Playwright forces the light color scheme on every frame.
      const page = await browser.newPage({ colorScheme: null });
      // A click on an element that moved out of view times out early, so that the caller can scroll
      // and click again.
      page.setDefaultTimeout(3_000);
      page.setDefaultNavigationTimeout(90_000);
      return page;
    },
    close: () => browser.close(),
  };
}
