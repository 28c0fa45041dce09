import { expect, test } from 'vitest';
import { fill, ORG_URL, TOKEN, fieldValues } from '../okta.js';
import type { Use } from '../run-frame-contract.js';

/** Rerenders, changed options, and moves in the document. */
export function changes({ engine, adapter, fixture, open, testUnless }: Use): void {
  test('rerenders with new callbacks do not reload the form, and the latest callback is called', async () => {
    const tab = await open();
    await tab.mount({ appearance: { colorPrimary: 'teal' } });
    const form = tab.form();
    await form.type('Organization URL', ORG_URL);
    for (let count = 0; count < 20; count += 1) await tab.update();
    await form.type('API token', TOKEN);
    expect(await fieldValues(form)).toEqual([ORG_URL, TOKEN]);
    await form.press('Save');
    await expect.poll(() => tab.callbacks()).toEqual([['ready'], ['save', expect.anything()]]);
    expect(await tab.iframes()).toBe(1);
  });

  test('another type mounts another form, and only the latest remains', async () => {
    const tab = await open();
    await tab.mount();
    await tab.form().value('Organization URL');
    await expect.poll(() => tab.callbacks()).toEqual([['ready']]);
    for (const typeId of ['github-audit-logs', 'okta-systemlog', 's3']) await tab.update({ typeId });
    await tab.form().says('Bucket');
    await expect.poll(async () => (await tab.callbacks()).at(-1)).toEqual(['ready']);
    expect(await tab.iframes()).toBe(1);
  });

  test('a new token is sent to the mounted form, which keeps and saves what was typed', async () => {
    const tab = await open();
    await tab.mount();
    await fill(tab.form());
    const sessionToken = await fixture().world.session();
    await tab.update({ sessionToken });
    await tab.form().press('Save');
    await expect.poll(() => tab.callbacks()).toEqual([['ready'], ['save', expect.anything()]]);
  });

  test('a form moved with append reloads and works', async () => {
    const tab = await open();
    await tab.mount();
    await expect.poll(() => tab.callbacks()).toEqual([['ready']]);
    await tab.page.evaluate(() => document.querySelector('#elsewhere')?.append(document.querySelector('#form') ?? ''));
    await expect.poll(() => tab.callbacks()).toEqual([['ready'], ['ready']]);
    await fill(tab.form());
    await tab.form().press('Save');
    await expect.poll(() => tab.callbacks()).toEqual([['ready'], ['ready'], ['save', expect.anything()]]);
  });

  testUnless('moveBefore', 'a form moved with moveBefore is kept', async () => {
    const tab = await open();
    await tab.mount();
    await fill(tab.form());
    await tab.page.evaluate(() => {
      const [container, box] = [document.querySelector('#elsewhere'), document.querySelector('#form')];
      if (container && box) container.moveBefore(box, null);
    });
    // This version of Firefox reloads the form all the same; it can be filled in again.
    const reloads = adapter.inShadow && engine === 'Firefox' ? [['ready']] : [];
    await expect.poll(() => tab.callbacks()).toEqual([['ready'], ...reloads]);
    if (reloads.length > 0) await fill(tab.form());
    expect(await fieldValues(tab.form())).toEqual([ORG_URL, TOKEN]);
    await tab.form().press('Save');
    await expect.poll(() => tab.callbacks()).toEqual([['ready'], ...reloads, ['save', expect.anything()]]);
  });
}
