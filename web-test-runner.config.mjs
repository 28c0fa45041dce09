/**
 * Component tests, in the browsers that `npm test` uses: `npx web-test-runner`, or with `--watch`.
 * `npm test` runs them beside Vitest and adds up the results. Decision 033 says what is tested here.
 */
import { readFile } from 'node:fs/promises';
import { esbuildPlugin } from '@web/dev-server-esbuild';
import { defaultReporter } from '@web/test-runner';
import { chromeLauncher } from '@web/test-runner-chrome';
import puppeteer from 'puppeteer-core';
import { ensureBrowser } from './scripts/lib/ensure-browser.mjs';
import { ensureFirefox } from './scripts/lib/ensure-firefox.mjs';
import { elementsReporter } from './scripts/lib/elements-reporter.mjs';
import { root } from './scripts/lib/root.mjs';

const { CHROME_PATH, ...libraries } = await ensureBrowser();
const { FIREFOX_PATH } = await ensureFirefox();

/** Serves `*.css?inline` as a module that exports the text, as Vite does. */
const inlineCss = {
  name: 'inline-css',
  async serve({ path, query }) {
    if (!path.endsWith('.css') || !('inline' in query)) return undefined;
    const text = await readFile(root + path.slice(1), 'utf8');
    return { body: `export default ${JSON.stringify(text)};`, type: 'js' };
  },
};

// Keys reach the page in front only, so each browser runs one file at a time.
const concurrency = 1;

const chromium = chromeLauncher({
  launchOptions: {
    executablePath: CHROME_PATH,
    env: { ...process.env, ...libraries },
    // A container runs as root, and has a small /dev/shm.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  },
  puppeteer,
  concurrency,
});

const firefox =
  FIREFOX_PATH &&
  chromeLauncher({ launchOptions: { browser: 'firefox', executablePath: FIREFOX_PATH }, puppeteer, concurrency });

export default {
  rootDir: root,
  files: process.env.ELEMENT_TESTS?.split(',') ?? 'test/elements/**/*.test.ts',
  browsers: [chromium, firefox].filter(Boolean),
  nodeResolve: { exportConditions: ['source', 'development'] },
  plugins: [inlineCss, esbuildPlugin({ ts: true, target: 'esnext', tsconfig: `${root}tsconfig.base.json` })],
  reporters: [defaultReporter(), elementsReporter({ missing: FIREFOX_PATH ? [] : ['Firefox'] })],
  testFramework: { config: { timeout: 20_000 } },
};
