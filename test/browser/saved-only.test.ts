import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Page, Route } from 'playwright-core';
import { exampleBody, typeOf } from '../support/connectors.js';
import { allPages, startDemoFixture, type DemoFixture } from '../support/demo.js';
import { dailyPart } from '../support/long.js';

// Types that the service can save, but not run: no page promises that data flows.

const sentences = {
  not_yet: 'Can be saved, but no data flows yet.',
  not_set_up: 'Can be saved, but no data flows yet.',
  agent: 'No data can flow: it needs an agent on the host.',
  proprietary: 'No data can flow: its protocol is not public.',
  withdrawn: 'No data can flow: the vendor has withdrawn this API.',
};
/** What is said of the type of "Kept input". */
let sentence: string;
let fixture: DemoFixture;
/** A type of each kind without a runtime, as the service reports it. */
let types: Record<'input' | 'output', Type>;

beforeAll(async () => {
  fixture = await startDemoFixture();
  const first = async (kind: 'input' | 'output') => {
    const { body } = await fixture.call('GET', `/v1/${kind}s`);
    const found = (Object.values(body) as Type[]).find((type) => !type.supported_features.runtime);
    if (!found) throw new Error(`This release runs all ${kind}s: remove this test.`);
    return found;
  };
  types = { input: await first('input'), output: await first('output') };
  sentence = sentences[types.input.unavailable?.reason ?? 'not_yet'];
  for (const kind of ['input', 'output'] as const) {
    const made = await fixture.call(
      'POST',
      `/v2/~/${kind}s`,
      exampleBody(typeOf(kind, types[kind].type_id), `Kept ${kind}`),
    );
    expect(made.status).toBe(200);
  }
  const running = await fixture.call('POST', '/v2/~/inputs', exampleBody(typeOf('input', 'demo'), 'Running input'));
  expect(running.status).toBe(200);
});
afterAll(() => fixture?.close());
afterEach(() => fixture.clear());

interface Type {
  type_id: string;
  name: string;
  supported_features: { runtime: boolean };
  unavailable?: { reason: keyof typeof sentences };
}

const product = (page: Page, name: string) =>
  page.locator('#catalog :is(a, button)').filter({ has: page.getByText(name, { exact: true }) });
const row = (page: Page, name: string) => page.locator('#connections').getByRole('listitem').filter({ hasText: name });

describe.each(dailyPart(allPages, 4))('%s', (kind) => {
  test('the picker does not offer it; the list and the form say so before anyone types', async () => {
    const page = await fixture.open(kind);
    expect(await product(page, 'Okta System Log').textContent()).not.toContain(sentence);
    expect(await product(page, types.input.name).count()).toBe(0);

    const kept = row(page, 'Kept input');
    await kept.getByText(sentence).waitFor();
    await kept.getByRole('button', { name: 'Delete' }).waitFor();
    expect(await kept.getByRole('button', { name: 'Start a pipeline' }).count()).toBe(0);
    const running = row(page, 'Running input');
    await running.getByRole('button', { name: 'Start a pipeline' }).waitFor();
    expect(await running.getByText(sentence).count()).toBe(0);

    await kept.getByRole('link', { name: 'Kept input' }).click();
    const form = page.frameLocator('iframe');
    await form.getByText(sentence).waitFor();
    expect(await form.getByRole('button', { name: 'Test connection' }).count()).toBe(0);
    expect(await page.getByText(/\bconnected\b/i).count()).toBe(0);
    expect(fixture.problems).toEqual([]);
  });
});

test.each(dailyPart(['script', 'react', 'vue'] as const, 3))(
  '%s: a list that comes before the catalog says so, too',
  async (kind) => {
    const page = await fixture.open(kind);
    const held: Route[] = [];
    await page.route('**/api/catalog?*', (route) => void held.push(route));
    await page.reload();
    const kept = row(page, 'Kept input');
    await kept.getByRole('button', { name: 'Delete' }).waitFor();
    for (const route of held) await route.continue();
    await kept.getByText(sentence).waitFor();
    await kept.getByRole('button', { name: 'Delete' }).waitFor();
    expect(await kept.getByRole('button', { name: 'Start a pipeline' }).count()).toBe(0);
  },
);

test('the form of a type that runs says nothing', async () => {
  const page = await fixture.open('react');
  await product(page, 'Okta System Log').click();
  await page.frameLocator('iframe').getByLabel('Organization URL').waitFor();
  expect(await page.frameLocator('iframe').getByText(sentence).count()).toBe(0);
});

test('a destination that cannot receive is listed, but cannot be selected; the default says what it does', async () => {
  const page = await fixture.open('react');
  const select = row(page, 'Running input').getByRole('combobox');
  const kept = select.getByRole('option', { name: 'Kept output' });
  await expect.poll(() => kept.textContent()).toContain('(saved only)');
  expect(await kept.isDisabled()).toBe(true);
  expect(await select.locator('option:checked').textContent()).toBe('Nowhere: count, then discard');
});

test('the empty lists promise no data before a pipeline is started', async () => {
  const page = await fixture.open('script');
  await page.getByRole('button', { name: 'Switch to Globex' }).click();
  await page.getByText('If data can flow from it, start its pipeline once it is saved.').waitFor();
  await page.goto(`${fixture.demo.hostUrl}/script/?kind=output`);
  await page.getByText('If data can flow to it, pipelines can use it once it is saved.').waitFor();
});
