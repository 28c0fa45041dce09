import { expect, test } from 'vitest';
import type { DrivenPage } from '../../support/engines/driven.js';
import { eventually } from '../../support/engines/eventually.js';
import type { Use } from '../run-frame-contract.js';
import type { Tab } from '../tab.js';

/** The form's appearance matches the page. */
export function appearance({ open, testUnless }: Use): void {
  testUnless('colorSchemeOfIframe', 'is dark on a dark page and never shows a white box', async () => {
    const tab = await open('dark');
    await tab.mount();
    // Sample a corner from the start: the page shows through while the form loads and afterwards.
    const iframe = await eventually('the frame', () =>
      tab.page.evaluate(() => {
        const { x, y } = contract.iframes()[0]?.getBoundingClientRect() ?? {};
        return x === undefined || y === undefined ? null : { x: x + 2, y: y + 2, width: 4, height: 4 };
      }),
    );
    const colors = [await pixel(tab.page, iframe)];
    await tab.form().value('Organization URL');
    colors.push(await pixel(tab.page, iframe));
    expect(colors).toEqual([
      [20, 20, 20],
      [20, 20, 20],
    ]);
    const isDark = await (await tab.form().frame()).evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
    expect(isDark).toBe(true);
  });

  test('resizes to fit its content without scrolling', async () => {
    const tab = await open();
    await tab.mount();
    await tab.form().value('Organization URL');
    const first = await settled(tab);
    // A rejected save adds error messages, which need more height.
    await tab.form().press('Save');
    await eventually('more height', async () => ((await settled(tab)) > first + 20 ? true : undefined));
    // A narrow container.
    await tab.page.evaluate(() => document.querySelector<HTMLElement>('#form')?.style.setProperty('width', '320px'));
    await settled(tab);
  });
}

/**
 * Resolves with the frame's height once it fits the whole form, without a scroll bar or empty space
 * below.
 */
function settled(tab: Tab): Promise<number> {
  return eventually('a height without scroll bars', async () => {
    const [outside] = await tab.page.evaluate(() => contract.iframes().map(({ clientHeight }) => clientHeight));
    const inside = await (
      await tab.form().frame()
    ).evaluate(() => {
      const { clientWidth, clientHeight, scrollWidth } = document.documentElement;
      const bottom = document.querySelector('main')?.getBoundingClientRect().bottom ?? 0;
      const bars = innerWidth - clientWidth + innerHeight - clientHeight;
      return bars === 0 && scrollWidth <= innerWidth && Math.abs(innerHeight - bottom) < 1 ? clientHeight : undefined;
    });
    return outside === inside ? outside : undefined;
  });
}

/** Returns the red, green and blue values of a part of the page, decoded by the browser. */
async function pixel(
  page: DrivenPage,
  clip: { x: number; y: number; width: number; height: number },
): Promise<number[]> {
  const png = Buffer.from(await page.screenshot({ clip })).toString('base64');
  return page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(1, 1).getContext('2d');
    canvas?.drawImage(bitmap, 1, 1, 1, 1, 0, 0, 1, 1);
    return [...(canvas?.getImageData(0, 0, 1, 1).data ?? [])].slice(0, 3);
  }, png);
}
