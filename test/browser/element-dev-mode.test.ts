import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { bundle } from '../support/bundle.js';
import { serve } from '../support/serve.js';

// Dev servers use Lit's development build, which warns about code that updates an element twice.

const NOTICE = /^Lit is in dev mode/;
const options = (frameOrigin: string) => ({
  frameOrigin,
  apiBase: 'https://connect.test',
  sessionToken: 'token-1',
  organizationId: 'org_1',
  kind: 'input',
  typeId: 'okta-systemlog',
});

let browser: Browser;
let frame: FakeFrameServer;
let site: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  const elements = `
    import '@connector-frame/element/define';
    import '@connector-frame/element/define-catalog';`;
  const react = `
    import { createElement, useState } from 'react';
    import { createRoot } from 'react-dom/client';
    import { ConnectorFrame } from '@connector-frame/react';
    function App() {
      const [typeId, setTypeId] = useState('okta-systemlog');
      globalThis.setTypeId = setTypeId;
      return createElement(ConnectorFrame, { ...globalThis.options, typeId, appearance: {} });
    }
    globalThis.mount = () => createRoot(document.body).render(createElement(App));`;
  const [define, app] = await Promise.all([elements, react].map((code) => bundle(code, { development: true })));
  const script = (body = '') => ({ headers: { 'content-type': 'text/javascript' }, body });
  site = await serve({
    '/': { body: '<!doctype html><html lang="en"><title>Host</title><body></body></html>' },
    '/define.js': script(define),
    '/react.js': script(app),
  });
  [browser, frame] = await Promise.all([launchBrowser(), serveFakeFrame()]);
});
afterAll(async () => {
  await browser?.close();
  await frame?.close();
  await site?.close();
});

/** Opens a page with a script. `warnings` collects what it logs as a warning or an error. */
async function open(script: string): Promise<{ page: Page; warnings: string[] }> {
  const page = await browser.newPage();
  const warnings: string[] = [];
  page.on('console', (message) => {
    // The element logs the errors that the test causes.
    const isOurs = /^<connector-frame [^>]*> invalid_options: kind: /.test(message.text());
    if (['warning', 'error'].includes(message.type()) && !isOurs) warnings.push(message.text());
  });
  await page.goto(site.origin);
  await page.addScriptTag({ url: script, type: 'module' });
  return { page, warnings };
}

test('mounting, changing, failing and removing an element cause no warning', async () => {
  const { page, warnings } = await open('/define.js');
  await page.evaluate((options) => {
    document.body.append(Object.assign(document.createElement('connector-frame'), options));
  }, options(frame.frameOrigin));
  const form = page.frameLocator('iframe');
  await form.getByText('New input').waitFor();
  await form.getByRole('button', { name: 'Save' }).click();
  await page.waitForFunction(() => document.querySelector('connector-frame')?.matches(':state(saved)'));

  await page.locator('connector-frame').evaluate((element) => element.setAttribute('kind', 'output'));
  await form.getByText('New output').waitFor();
  await page.locator('connector-frame').evaluate((element) => element.setAttribute('appearance', '{'));
  await page.locator('connector-frame').evaluate((element) => element.setAttribute('kind', 'neither'));
  await page.getByRole('alert').waitFor();
  await page.locator('connector-frame').evaluate((element) => element.removeAttribute('appearance'));
  await page.locator('connector-frame').evaluate((element) => element.setAttribute('kind', 'input'));
  await form.getByText('New input').waitFor();
  await page.locator('connector-frame').evaluate((element) => element.remove());

  await page.evaluate(() => {
    const types = [{ type_id: 'okta', name: 'Okta', description: '', category: 'Identity', icon: null }];
    document.body.append(Object.assign(document.createElement('connector-catalog'), { types }));
  });
  await page.getByRole('button', { name: 'Okta' }).click();
  expect(warnings.filter((text) => NOTICE.test(text))).toHaveLength(1);
  expect(warnings.filter((text) => !NOTICE.test(text))).toEqual([]);
  await page.close();
});

test('the React component causes no warning', async () => {
  const { page, warnings } = await open('/react.js');
  await page.waitForFunction(() => 'mount' in globalThis);
  await page.evaluate((options) => {
    Object.assign(globalThis, { options });
    Object(globalThis).mount();
  }, options(frame.frameOrigin));
  await page.frameLocator('iframe').getByText('New input').waitFor();
  await page.evaluate(() => Object(globalThis).setTypeId('splunk'));
  await page.frameLocator('iframe').getByRole('heading', { name: 'splunk' }).waitFor();
  expect(warnings.filter((text) => !NOTICE.test(text))).toEqual([]);
  await page.close();
});

test('registered messages replace the texts of a mounted element, by locale', async () => {
  const { page } = await open('/define.js');
  await page.addScriptTag({
    type: 'module',
    content: await bundle(`
      import { registerMessages } from '@connector-frame/element';
      globalThis.registerMessages = registerMessages;`),
  });
  await page.evaluate(() => {
    document.documentElement.lang = 'de-CH';
    const element = document.createElement('connector-frame');
    document.body.append(element);
    Object.assign(element, { kind: 'input', typeId: 'okta-systemlog', sessionToken: 't', organizationId: 'o' });
  });
  const alert = page.getByRole('alert');
  await expect.poll(() => alert.innerText()).toContain('The form could not be loaded');
  expect(await alert.innerText()).toContain('api-base');

  // By another copy of the package than the one that defined the tag.
  await page.waitForFunction(() => 'registerMessages' in globalThis);
  await page.evaluate(() =>
    Object(globalThis).registerMessages('de', {
      loadFailed: 'Das Formular konnte nicht geladen werden',
      causes: { invalid_options: 'Die Seite ist falsch eingerichtet.' },
    }),
  );
  await expect.poll(() => alert.innerText()).toContain('Das Formular konnte nicht geladen werden');
  expect(await alert.innerText()).toContain('Die Seite ist falsch eingerichtet.');
  // A missing text is English.
  expect(await alert.getByRole('button').innerText()).toBe('Try again');

  await page.locator('connector-frame').evaluate((element) => element.setAttribute('locale', 'fr'));
  await expect.poll(() => alert.innerText()).toContain('The form could not be loaded');
  await page.close();
});
