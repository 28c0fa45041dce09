import { launchBrowser } from '../browser.js';
import type { DrivenBrowser } from './driven.js';

/** A headless Chromium, driven by Playwright: Puppeteer loses frames of other sites in it. */
export async function launchChromium(): Promise<DrivenBrowser> {
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
