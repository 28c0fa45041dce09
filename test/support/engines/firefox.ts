import { launch } from 'puppeteer-core';
import type { DrivenBrowser, DrivenPage } from './driven.js';

/**
 * Launches a headless Firefox through Puppeteer over WebDriver BiDi; Playwright requires its own
 * build of Firefox. Each page has separate storage and cache, as in the other engines.
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
