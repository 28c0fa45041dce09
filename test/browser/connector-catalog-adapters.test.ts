import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { bundle } from '../support/bundle.js';
import { launchBrowser } from '../support/browser.js';
import { reacts } from '../support/react.js';
import { serve } from '../support/serve.js';
import { vues } from '../support/vue.js';

/**
 * The picker in React and Vue: props are set as properties, callbacks receive payloads, and a new
 * callback changes nothing else.
 */
const types = [
  { type_id: 'okta-systemlog', name: 'Okta System Log', description: 'Sign-ins.', category: 'Identity', icon: null },
  { type_id: 'splunk', name: 'Splunk', description: 'Search.', category: 'SIEM', icon: null },
];

const inReact = `
  import { createElement as h } from 'react';
  import { createRoot } from 'react-dom/client';
  import { ConnectorCatalog } from '@connector-frame/react/catalog';
  const root = createRoot(document.querySelector('#root'));
  globalThis.callbacks = [];
  globalThis.show = (props, label) =>
    root.render(
      h(
        ConnectorCatalog,
        {
          ...props,
          ref: (element) => (globalThis.picker = element),
          onSelect: (type) => callbacks.push([label, type.type_id]),
          onError: (error) => callbacks.push([label, error.code]),
        },
        h('p', { slot: 'empty' }, 'Ask us'),
      ),
    );`;

const inVue = `
  import { createApp, h, shallowReactive } from 'vue';
  import { ConnectorCatalog } from '@connector-frame/vue/catalog';
  const given = shallowReactive({ props: {}, label: '' });
  globalThis.callbacks = [];
  createApp({
    render: () =>
      h(
        ConnectorCatalog,
        {
          ...given.props,
          onSelect: (type) => callbacks.push([given.label, type.type_id]),
          onError: (error) => callbacks.push([given.label, error.code]),
        },
        { empty: () => h('p', 'Ask us') },
      ),
  }).mount('#root');
  globalThis.show = (props, label) => Object.assign(given, { props, label });`;

const adapters = [
  ...reacts.map(({ react, alias }) => ({ name: `React ${react}`, code: inReact, alias })),
  ...vues.map(({ vue, alias }) => ({ name: `Vue ${vue}`, code: inVue, alias })),
];

declare global {
  var callbacks: unknown[];
  var show: (props: object, label: string) => void;
}

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

describe.each(adapters)('$name', ({ code, alias }) => {
  let site: Awaited<ReturnType<typeof serve>>;
  let page: Page;
  beforeAll(async () => {
    const script = await bundle(code, { alias });
    site = await serve({
      '/': '<!doctype html><title>Page</title><div id="root"></div><script type="module" src="/page.js"></script>',
      '/page.js': { body: script, headers: { 'content-type': 'text/javascript' } },
    });
    page = await browser.newPage();
    await page.goto(site.origin);
    await page.waitForFunction(() => 'show' in globalThis);
  });
  afterAll(async () => {
    await page?.close();
    await site?.close();
  });

  const show = (props: object, label = 'first') =>
    page.evaluate(([p, l]) => globalThis.show(p, l), [props, label] as const);
  const callbacks = () => page.evaluate(() => globalThis.callbacks);

  test('renders its props and calls the latest callback', async () => {
    await show({ types });
    await page.getByRole('button', { name: /Okta System Log/ }).click();
    await page.getByRole('searchbox').fill('splunk');
    await show({ types, selected: 'splunk' }, 'second');
    await expect.poll(() => page.locator('[aria-current]').allTextContents()).toHaveLength(1);
    expect(await page.getByRole('searchbox').inputValue()).toBe('splunk');
    await page.getByRole('button', { name: /Splunk/ }).click();
    expect(await callbacks()).toEqual([
      ['first', 'okta-systemlog'],
      ['second', 'splunk'],
    ]);
    await page.getByRole('searchbox').fill('nothing of it');
    await page.getByText('Ask us').waitFor();
    expect(await page.locator('connector-catalog').evaluate((element) => element.getAttribute('types'))).toBe(null);
  });

  test('shows types that cannot run if the prop says so', async () => {
    const stopped = { ...types[0], type_id: 'later', name: 'Later', runtime: false };
    const later = page.getByRole('button', { name: /Later/ });
    await show({ types: [...types, stopped] });
    await page.getByRole('searchbox').fill('');
    await page.getByRole('button', { name: /Splunk/ }).waitFor();
    expect(await later.count()).toBe(0);
    await show({ types: [...types, stopped], showUnavailable: true });
    await later.waitFor();
    await show({ types: [...types, stopped] });
    await later.waitFor({ state: 'detached' });
  });

  test('reports a failure to the callback', async () => {
    await show({ hostUrl: '/nowhere' }, 'third');
    await page.getByText('The products could not be loaded.').waitFor();
    expect((await callbacks()).at(-1)).toEqual(['third', 'load_failed']);
  });
});
