import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { repeatLostClicks } from './repeat-lost-clicks.js';

const installed = ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/chromium-browser'];

/** How long a page may take for one step on a busy machine, in milliseconds. */
const WAIT_MS = 90_000;

/**
 * Launches a headless Chromium: the one `npm test` found (`CHROME_PATH`), or an installed one. The
 * caller closes it. Passes `--site-per-process`, because the headless shell does not isolate
 * cross-site frames in their own process by default.
 */
export async function launchBrowser(args: string[] = []): Promise<Browser> {
  const executablePath = process.env['CHROME_PATH'] ?? installed.find((path) => existsSync(path));
  if (!executablePath) throw new Error('No browser: run `npm test`, which finds or unpacks one, or set CHROME_PATH.');
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--site-per-process', ...args],
  });
  browser.on('context', (context) => {
    context.setDefaultTimeout(WAIT_MS);
    context.on('page', repeatLostClicks);
  });
  return browser;
}
