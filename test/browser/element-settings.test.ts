import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { useElementPages } from '../support/element-pages.js';
import { eventsOf } from '../support/element-world.js';

/** Which options the form receives for attributes, properties and style sheets. */
const on = useElementPages();

const { open } = on;

const session = 'session-token="token-1" organization-id="org_1"';
const tag = (attributes: string, content = '') =>
  `<connector-frame frame-origin="${on.fake.frameOrigin}" api-base="https://api.example.com" ${attributes}>${content}</connector-frame>`;

/** Returns the last `init` that the fake form received. */
async function initOf(page: Page): Promise<Record<string, unknown>> {
  await page.frameLocator('iframe').getByText('New input').waitFor();
  const inits = on.fake.received.filter(({ type }) => type === 'init');
  return { ...inits.at(-1) };
}

test('attributes become options; missing attributes are left out', async () => {
  const page = await open(
    tag(`kind="input" type-id="okta-systemlog" ${session} display-name="Okta" name="Sign-ins" description="All of them"
      is-name-editable is-description-editable="false" synthetic="false"
      appearance='{"colorPrimary":"#4f46e5"}' stylesheets='["${on.world.origin}/a.css"]'
      config-meta-overrides='{"settings":{"url":{"name":"Address"}}}'`),
  );
  expect(await initOf(page)).toEqual({
    source: 'monad-embed',
    type: 'init',
    version: 1,
    kind: 'input',
    typeId: 'okta-systemlog',
    sessionToken: 'token-1',
    organizationId: 'org_1',
    apiBase: 'https://api.example.com',
    displayName: 'Okta',
    name: 'Sign-ins',
    description: 'All of them',
    isNameEditable: true,
    appearance: { colorPrimary: '#4f46e5' },
    stylesheets: [`${on.world.origin}/a.css`],
    configMetaOverrides: { settings: { url: { name: 'Address' } } },
  });
});

test('keeps every property that was set before the upgrade', async () => {
  const page = await open(tag(''), { define: false });
  await page.evaluate(() => {
    Object.assign(document.querySelector('connector-frame') ?? {}, {
      kind: 'input',
      typeId: 'okta-systemlog',
      displayName: 'Okta',
      isNameEditable: true,
      appearance: { borderRadius: '4px' },
      fetchSession: async () => ({ sessionToken: 'token-2', organizationId: 'org_2' }),
    });
  });
  await page.addScriptTag({ url: '/define.js', type: 'module' });
  expect(await initOf(page)).toMatchObject({
    kind: 'input',
    displayName: 'Okta',
    isNameEditable: true,
    appearance: { borderRadius: '4px' },
    sessionToken: 'token-2',
    organizationId: 'org_2',
  });
});

test('the token is not in the DOM', async () => {
  const page = await open(tag('kind="input" type-id="okta-systemlog" organization-id="org_1"'));
  await page.locator('connector-frame').evaluate((element) => Object.assign(element, { sessionToken: 'secret-token' }));
  expect(await initOf(page)).toMatchObject({ sessionToken: 'secret-token' });
  const [markup, shadow, src] = await page
    .locator('connector-frame')
    .evaluate((element) => [
      document.documentElement.outerHTML,
      element.shadowRoot?.innerHTML,
      element.shadowRoot?.querySelector('iframe')?.src,
    ]);
  expect(`${markup}${shadow}${src}`).not.toContain('secret-token');
});

test.each([
  ['appearance', '{colorPrimary: red}', 'appearance: "{colorPrimary: red}" is not JSON'],
  ['stylesheets', 'a.css', 'stylesheets: "a.css" is not JSON'],
  ['kind', 'inputs', 'kind: "inputs" is not input or output or enrichment'],
  ['frame-origin', 'javascript:alert(1)', expect.stringContaining('frameOrigin')],
])('%s="%s" is reported as an error and creates no frame', async (name, value, message) => {
  const page = await open(tag(`kind="input" type-id="okta-systemlog" ${session}`), { define: false });
  await page
    .locator('connector-frame')
    .evaluate((element, [name = '', value = '']) => element.setAttribute(name, value), [name, value]);
  await page.addScriptTag({ url: '/define.js', type: 'module' });
  await expect.poll(() => eventsOf(page)).toEqual([['error', 'invalid_options', message]]);
  expect(await page.locator('iframe').count()).toBe(0);
  expect(await page.getByRole('alert').innerText()).toContain('The form could not be loaded');

  // After the correction the form loads.
  await page.locator('connector-frame').evaluate(
    (element, [name = '', right = '']) => {
      if (right) element.setAttribute(name, right);
      else element.removeAttribute(name);
    },
    [name, { kind: 'input', 'frame-origin': on.fake.frameOrigin }[name] ?? ''],
  );
  await initOf(page);
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('shows its own content and reports nothing while a required option is missing', async () => {
  const page = await open(tag('kind="input"', '<p>Choose a product first.</p>'));
  await page.waitForFunction(() => customElements.get('connector-frame'));
  expect(await page.getByText('Choose a product first.').isVisible()).toBe(true);
  const element = page.locator('connector-frame');
  await element.evaluate((element) => element.setAttribute('session-token', 'token-1'));
  await element.evaluate((element) => element.setAttribute('organization-id', 'org_1'));
  expect(await page.locator('iframe').count()).toBe(0);
  await element.evaluate((element) => element.setAttribute('type-id', 'okta-systemlog'));
  await initOf(page);
  expect(await page.getByText('Choose a product first.').isVisible()).toBe(false);
  expect(await eventsOf(page)).toEqual([['ready']]);
});

test('events do not bubble and do not reach the window', async () => {
  const page = await open(`<div id="around">${tag(`kind="input" type-id="okta-systemlog" ${session}`)}</div>`);
  await initOf(page);
  await page.evaluate(() => {
    const bubbled: string[] = [];
    Object.assign(globalThis, { bubbled });
    for (const type of ['ready', 'save', 'cancel', 'error']) {
      document.querySelector('#around')?.addEventListener(type, () => bubbled.push(type));
      window.addEventListener(type, () => bubbled.push(type));
    }
    document.querySelector('connector-frame')?.addEventListener('cancel', () => bubbled.push('heard'));
  });
  const form = page.frameLocator('iframe');
  for (const name of ['Save', 'Fail', 'Cancel']) await form.getByRole('button', { name, exact: true }).click();
  await expect.poll(() => eventsOf(page)).toHaveLength(4);
  expect(await page.evaluate(() => Object(globalThis).bubbled)).toEqual(['heard']);
  expect((await eventsOf(page)).map(([event]) => event)).toEqual(['ready', 'save', 'error', 'cancel']);
});

test('CSS custom properties fill in the tokens that `appearance` does not set', async () => {
  const page = await open(
    tag(`kind="input" type-id="okta-systemlog" ${session} appearance='{"colorText":"#111111"}'`),
    {
      head: `<style>
        :root { --brand: #4f46e5; color-scheme: dark }
        connector-frame { font-size: 20px; --connector-color-primary: var(--brand); --connector-color-text: red;
          --connector-color-background: light-dark(white, #101014); --connector-color-border: color-mix(in srgb, rgb(0 0 0 / 50%), rgb(255 255 255 / 50%));
          --connector-border-radius: calc(0.5em + 2px); --connector-font-family: "Inter", sans-serif }
      </style>`,
    },
  );
  const { appearance } = await initOf(page);
  expect(appearance).toEqual({
    colorPrimary: 'rgb(79 70 229)',
    colorText: '#111111',
    colorBackground: 'rgb(16 16 20)',
    colorBorder: 'rgb(128 128 128 / 0.5)',
    fontFamily: '"Inter", sans-serif',
    borderRadius: '12px',
  });
});
