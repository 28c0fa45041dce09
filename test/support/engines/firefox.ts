import { launch } from 'puppeteer-core';
import type { DrivenBrowser } from './driven.js';

/** A headless Firefox, driven by Puppeteer over WebDriver BiDi: Playwright needs a Firefox of its own. */
export async function launchFirefox(executablePath: string): Promise<DrivenBrowser> {
  const browser = await launch({ browser: 'firefox', executablePath, headless: true });
  return browser as unknown as DrivenBrowser;
}
