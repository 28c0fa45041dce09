/**
 * `node scripts/screenshots.mjs`: the pictures of the guides, `docs/images/<page>-<light|dark>.png`, from the built demo. Words choose pages:
 * `node scripts/screenshots.mjs react vue`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import sharp from 'sharp';
import { ensureBrowser } from './lib/ensure-browser.mjs';
import { build } from './lib/build.mjs';
import { root } from './lib/root.mjs';

const { CHROME_PATH, ...environment } = await ensureBrowser();
if (!(await build())) process.exit(1);

const folder = mkdtempSync(join(tmpdir(), 'screenshots-'));
const { startDemo } = await import(`${root}demo/dist/start-demo.js`);
// The addresses stand in the pictures: those of `npm start`.
const demo = await startDemo({ DATA_DIR: folder, LOG_LEVEL: 'silent' });
const browser = await chromium.launch({
  executablePath: CHROME_PATH,
  args: ['--no-sandbox'],
  env: { ...process.env, ...environment },
});
const pages = process.argv.slice(2);
for (const way of pages.length > 0 ? pages : ['script', 'html', 'react', 'vue']) {
  for (const colorScheme of ['light', 'dark']) await shoot(way, colorScheme);
}
await browser.close();
await demo.close();
rmSync(folder, { recursive: true });

async function shoot(way, colorScheme) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 880 }, deviceScaleFactor: 1.5, colorScheme });
  await page.goto(`${demo.hostUrl}/${way}/?kind=input&type=okta-systemlog`);
  await page.getByRole('button', { name: 'Continue as Acme' }).click();
  const form = page.frameLocator('iframe');
  await form.getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ');
  await form.getByLabel('Organization URL').fill('https://acme.okta.com');
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  await sharp(picture).png({ palette: true, effort: 10 }).toFile(`${root}docs/images/${way}-${colorScheme}.png`);
  await page.close();
}
