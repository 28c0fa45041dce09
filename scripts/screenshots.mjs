/**
 * `node scripts/screenshots.mjs`: takes the screenshots of the guides,
 * `docs/images/<page>-<light|dark>.png`, from the built demo. Arguments select pages: `node
 * scripts/screenshots.mjs react vue`; `pipeline` is the list of connections with a running
 * pipeline.
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
// The pictures show the addresses: use those of `npm start`.
const demo = await startDemo({ DATA_DIR: folder, LOG_LEVEL: 'silent' });
const browser = await chromium.launch({
  executablePath: CHROME_PATH,
  args: ['--no-sandbox'],
  env: { ...process.env, ...environment },
});
const pages = process.argv.slice(2);
for (const name of pages.length > 0 ? pages : ['script', 'html', 'react', 'vue', 'pipeline']) {
  for (const colorScheme of ['light', 'dark'])
    await (name === 'pipeline' ? shootPipeline : shootForm)(name, colorScheme);
}
await browser.close();
await demo.close();
rmSync(folder, { recursive: true });

/** Opens a page of the demo, signed in. */
async function open(path, colorScheme) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 880 }, deviceScaleFactor: 1.5, colorScheme });
  await page.goto(`${demo.hostUrl}${path}`);
  await page.getByRole('button', { name: 'Continue as Acme' }).click();
  return page;
}

async function keep(page, name, colorScheme) {
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  await sharp(picture).png({ palette: true, effort: 10 }).toFile(`${root}docs/images/${name}-${colorScheme}.png`);
  await page.close();
}

async function shootForm(way, colorScheme) {
  const page = await open(`/${way}/?kind=input&type=okta-systemlog`, colorScheme);
  const form = page.frameLocator('iframe');
  await form.getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ');
  await form.getByLabel('Organization URL').fill('https://acme.okta.com');
  await keep(page, way, colorScheme);
}

/**
 * Prepares two connections: one paused, one that receives events for a while before the picture is
 * taken.
 */
async function shootPipeline(name, colorScheme) {
  const page = await open('/script/?kind=input&type=monad-http', colorScheme);
  await page.frameLocator('iframe').getByRole('button', { name: 'Save' }).waitFor();
  const has = await page.request.get(`${demo.hostUrl}/api/connectors?kind=input&tenantId=acme`);
  if ((await has.json()).length === 0) {
    await connect(page, 'Night shift');
    await row(page, 'Night shift').getByRole('button', { name: 'Pause' }).click();
    await page.goto(`${demo.hostUrl}/script/?kind=input&type=monad-http`);
    await connect(page, 'Web store');
    await feed(page, 'Web store', 150);
  }
  await page.goto(`${demo.hostUrl}/script/`);
  await row(page, 'Night shift').getByText('Paused', { exact: true }).waitFor();
  await feed(page, 'Web store', 8);
  await keep(page, name, colorScheme);
}

function row(page, name) {
  return page.locator('.connection').filter({ has: page.getByRole('link', { name, exact: true }) });
}

async function connect(page, name) {
  const form = page.frameLocator('iframe');
  await form.getByLabel('Name', { exact: true }).fill(name);
  await form.getByRole('button', { name: 'Save' }).click();
  await row(page, name).getByRole('button', { name: 'Start a pipeline' }).click();
  await row(page, name).getByText('Running', { exact: true }).waitFor();
}

/**
 * Sends a varying number of events per second to the address that the page shows, and leaves its
 * details open.
 */
async function feed(page, name, seconds) {
  const open = row(page, name);
  await open.getByRole('button', { name: 'Details' }).click();
  await open.getByText('live', { exact: true }).waitFor();
  const url = await open.locator('.pipeline-field code').first().textContent();
  const tenant = { tenantId: 'acme', inputId: url.split('/').pop() };
  const headers = { 'sec-fetch-site': 'same-origin' };
  const answer = await page.request.post(`${demo.hostUrl}/demo/pipelines/token`, { data: tenant, headers });
  const authorization = `Bearer ${(await answer.json()).token}`;
  for (let second = 0; second < seconds; second += 1) {
    const count = Math.round(60 + 25 * Math.sin(second / 14) + 8 * Math.cos(second / 5));
    const body = Array.from({ length: count }, (_, order) => JSON.stringify({ order, second })).join('\n');
    await fetch(url, { method: 'POST', headers: { authorization }, body });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
