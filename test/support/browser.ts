import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const installed = ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/chromium-browser'];

/**
 * A headless Chromium: the one `npm test` found (`CHROME_PATH`), or an installed one. The caller closes it.
 * A frame of another site is in a process of its own, as in a normal browser; the headless shell has to be told to.
 */
export async function launchBrowser(args: string[] = []): Promise<Browser> {
  const executablePath = process.env['CHROME_PATH'] ?? installed.find((path) => existsSync(path));
  if (!executablePath) throw new Error('No browser: run `npm test`, which finds or unpacks one, or set CHROME_PATH.');
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--site-per-process', ...args],
  });
}
