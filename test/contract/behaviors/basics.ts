import { expect, test } from 'vitest';
import { fill, ORG_URL, TOKEN } from '../okta.js';
import type { Use } from '../run-frame-contract.js';
import type { Tab } from '../tab.js';

/** Basic behavior: mount, fill in, save, edit, keyboard navigation. */
export function basics({ fixture, open, testUnless }: Use): void {
  test('mounts one form and reports ready once', async () => {
    const tab = await open();
    await tab.mount();
    await tab.form().value('Organization URL');
    await expect.poll(() => tab.callbacks()).toEqual([['ready']]);
    expect(await tab.iframes()).toBe(1);
  });

  test('saves: the page gets the id and the service has the connector', async () => {
    const tab = await open();
    await tab.mount({ name: 'Okta of Acme' });
    await fill(tab.form());
    await tab.form().press('Save');
    await expect
      .poll(() => tab.callbacks())
      .toEqual([['ready'], ['save', { id: expect.any(String), name: 'Okta of Acme' }]]);
    const { id, settings } = await saved(tab);
    expect(await tab.callbacks()).toContainEqual(['save', { id, name: 'Okta of Acme' }]);
    expect(settings).toMatchObject({ org_url: ORG_URL });
  });

  test('reports cancel', async () => {
    const tab = await open();
    await tab.mount();
    await tab.form().press('Cancel');
    await expect.poll(() => tab.callbacks()).toEqual([['ready'], ['cancel']]);
  });

  testUnless(
    'quietFrameReads',
    'works by keyboard: Tab passes through the form and out of it, Enter saves',
    async () => {
      const tab = await open();
      await tab.mount();
      await tab.form().value('API token');
      await tab.page.focus('#before');
      await tabTo(tab, 'Organization URL');
      await tab.page.keyboard.type(ORG_URL);
      await tabTo(tab, 'API token');
      await tab.page.keyboard.type(TOKEN);
      const passed = await tabTo(tab, '#after');
      expect(passed).toEqual(expect.arrayContaining(['Test connection', 'Cancel', 'Save']));
      // Then back, past the buttons, to a field.
      await tabTo(tab, 'API token', 'Shift');
      await tab.page.keyboard.press('Enter');
      await expect.poll(() => tab.callbacks()).toEqual([['ready'], ['save', expect.anything()]]);
    },
  );

  /** Returns the stored connector that the page's `save` callback named. */
  async function saved(tab: Tab): Promise<{ id: unknown; settings: unknown }> {
    const { world } = fixture();
    const [connector] = (await tab.callbacks()).flatMap(([callback, given]) =>
      callback === 'save' ? [Object(given)] : [],
    );
    const { body } = await world.call('GET', `/v1/${world.team}/inputs/${connector?.id}`);
    return { id: body['id'], settings: Object(body['config']).settings };
  }
}

/**
 * Presses Tab until the target has focus. Returns the names of the elements that had focus in
 * between.
 */
async function tabTo(tab: Tab, target: string, modifier?: 'Shift'): Promise<string[]> {
  const passed: string[] = [];
  for (let count = 0; count < 30; count += 1) {
    if (modifier) await tab.page.keyboard.down(modifier);
    await tab.page.keyboard.press('Tab');
    if (modifier) await tab.page.keyboard.up(modifier);
    const current = await focused(tab);
    passed.push(current);
    if (current === target) return passed;
  }
  throw new Error(`Tab does not lead to ${target}, but to ${passed.join(', ')}`);
}

/** Returns the name of the focused element in the form, or its id in the page. */
async function focused(tab: Tab): Promise<string> {
  const name = await (
    await tab.form().frame()
  ).evaluate(() => {
    if (!document.hasFocus()) return '';
    const host = document.activeElement;
    const element = host?.shadowRoot?.activeElement ?? host;
    const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : element?.textContent;
    return (element?.ariaLabel ?? label ?? '').trim();
  });
  return name || tab.page.evaluate(() => `#${document.activeElement?.id}`);
}
