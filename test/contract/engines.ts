import { existsSync } from 'node:fs';
import { launch, type Browser } from 'puppeteer-core';

export type EngineName = 'Chromium' | 'Firefox';

const path = (variable: string, ...usual: string[]): string | undefined =>
  process.env[variable] ?? usual.find((each) => existsSync(each));

const paths: Record<EngineName, string | undefined> = {
  Chromium: path('CHROME_PATH', '/usr/bin/chromium', '/usr/bin/google-chrome'),
  Firefox: path('FIREFOX_PATH', '/usr/bin/firefox-esr', '/usr/bin/firefox'),
};

/** Chromium is a must; `npm test` installs Firefox where it can and says so where it can't. */
export const engines: { name: EngineName; missing: boolean }[] = [
  { name: 'Chromium', missing: false },
  { name: 'Firefox', missing: paths.Firefox === undefined },
];

/**
 * A headless browser, with the site isolation of a normal one; the caller closes it. WebDriver BiDi drives both. (Over CDP,
 * Puppeteer loses a frame now and then where a page has several of another site.)
 */
export function launchEngine(name: EngineName): Promise<Browser> {
  const executablePath = paths[name];
  if (executablePath === undefined) throw new Error(`No ${name}: run \`npm test\`, which finds or installs one.`);
  const chromiumArgs = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  return launch({
    browser: name === 'Firefox' ? 'firefox' : 'chrome',
    protocol: 'webDriverBiDi',
    executablePath,
    headless: true,
    args: name === 'Firefox' ? [] : chromiumArgs,
  });
}
