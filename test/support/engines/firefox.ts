import { launch } from 'puppeteer-core';
import type { DrivenBrowser, DrivenPage } from './driven.js';

/**
 * A headless Firefox, driven by Puppeteer over WebDriver BiDi: Playwright needs a Firefox of its own. Each page has its own
 * storage and cache, as in the other engines.
 */
export async function launchFirefox(executablePath: string): Promise<DrivenBrowser> {
  const browser = await launch({ browser: 'firefox', executablePath, headless: true });
  return {
    async newPage() {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      return Object.assign(page, { close: () => context.close() }) as unknown as DrivenPage;
    },
    close: () => browser.close(),
  };
}
