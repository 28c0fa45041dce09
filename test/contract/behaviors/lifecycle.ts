import { expect, test } from 'vitest';
import { fill, ORG_URL, TOKEN, fieldValues } from '../okta.js';
import type { Use } from '../run-frame-contract.js';

/** Several forms on one page, and unmounted forms. */
export function lifecycle({ open }: Use): void {
  test('ten forms on one page are independent', async () => {
    const tab = await open();
    const boxes = Array.from({ length: 10 }, (_, index) => `box-${index}`);
    await tab.page.evaluate((boxes) => {
      for (const id of boxes)
        document.querySelector('#form')?.append(Object.assign(document.createElement('div'), { id }));
    }, boxes);
    for (const box of boxes) await tab.mount({}, box);
    for (const box of boxes) await expect.poll(() => tab.callbacks(box)).toEqual([['ready']]);
    await fill(tab.form('box-3'));
    await tab.form('box-8').press('Cancel');
    await tab.unmount('box-5');
    expect(await fieldValues(tab.form('box-3'))).toEqual([ORG_URL, TOKEN]);
    await tab.form('box-3').press('Save');
    await expect.poll(() => tab.callbacks('box-3')).toEqual([['ready'], ['save', expect.anything()]]);
    for (const box of boxes) {
      const more = box === 'box-8' ? [['cancel']] : box === 'box-3' ? [['save', expect.anything()]] : [];
      expect([box, await tab.callbacks(box)]).toEqual([box, [['ready'], ...more]]);
    }
    expect(await tab.iframes()).toBe(9);
  });

  test('unmount leaves no frame, listener or callback behind', async () => {
    const tab = await open();
    const before = await tab.observed();
    await tab.mount({ fetchSession: true });
    await expect.poll(() => tab.callbacks()).toEqual([['ready']]);
    // Start a save, then unmount the form while it is pending.
    await fill(tab.form());
    await tab.form().press('Save');
    await tab.unmount();
    await expect.poll(() => tab.iframes()).toBe(0);
    await expect.poll(async () => (await tab.observed()).listeners).toBe(before.listeners);
    await tab.page.evaluate(() => new Promise((next) => setTimeout(next, 100)));
    expect((await tab.callbacks()).filter(([callback]) => callback === 'stale' || callback === 'error')).toEqual([]);
    expect((await tab.observed()).uncaught).toEqual([]);
  });

  test('unmounting and mounting again in one task shows one form', async () => {
    const tab = await open();
    const before = await tab.observed();
    await tab.mount();
    await tab.unmount();
    await tab.mount();
    await fill(tab.form());
    await tab.form().press('Save');
    await expect.poll(() => tab.callbacks()).toEqual([['ready'], ['save', expect.anything()]]);
    expect(await tab.iframes()).toBe(1);
    await tab.unmount();
    await expect.poll(async () => (await tab.observed()).listeners).toBe(before.listeners);
  });
}
