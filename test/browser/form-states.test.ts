import { describe, expect, test } from 'vitest';
import { axeViolations } from '../support/axe-violations.js';
import { dailyPart } from '../support/long.js';
import { callsOf, focused, hold, painted, status, useGallery } from '../support/gallery.js';

const gallery = useGallery();

declare global {
  var touched: Set<string>;
}

const scenes = (
  'create blank edit kept cleared kinds kinds-empty kinds-invalid testing test-failed saving failure expired leaving saved loading ' +
  'load-failed long'
).split(' ');

describe('states', () => {
  test('a connection test announces progress and result and keeps focus', async () => {
    const page = await gallery.open('create');
    await hold(page);
    const button = page.getByRole('button', { name: 'Test connection' });
    await button.click();
    expect(await button.getAttribute('aria-busy')).toBe('true');
    expect(await status(page)).toBe('Testing the connection');
    await page.evaluate(() => release());
    await page.getByRole('heading', { name: 'Connection works' }).waitFor();
    expect(await status(page)).toContain('Read 1 event in 412 ms.');
    expect(await focused(page)).toBe('Test connection');
  });

  test('fields are disabled while saving, and a failed save restores focus', async () => {
    const page = await gallery.open('create');
    await hold(page);
    await page.evaluate(() => {
      form.save = async () => {
        form.change({ saving: true });
        await form.actionDone();
        form.change({ saving: false, failure: { code: 'offline', message: 'You are offline', hint: 'Later.' } });
      };
    });
    await page.getByLabel('Name').press('Enter');
    await page.locator('.cf-body[inert]').waitFor({ state: 'attached' });
    expect(await status(page)).toContain('Saving');
    await painted(page);
    await page.evaluate(() => release());
    await page.getByRole('alert').waitFor();
    await expect.poll(() => focused(page)).toBe('Name');
    expect(await page.getByLabel('Name').inputValue()).toBe('Okta System Log 7f3k');
  });

  test('offers Retry for retryable errors and delays the loading skeleton', async () => {
    const page = await gallery.open('load-failed');
    await page.getByRole('button', { name: 'Try again' }).click();
    expect(await callsOf(page)).toEqual(['retry']);
    const loading = await gallery.open('loading', { reducedMotion: 'no-preference' });
    const timing = await loading
      .locator('.cf-skeleton')
      .evaluate((element) => element.getAnimations()[0]?.effect?.getTiming());
    expect(timing).toMatchObject({ delay: 150, fill: 'both' });
  });

  test('falls back to a monogram if the icon fails to load', async () => {
    const page = await gallery.open('long');
    await page.getByText('OS', { exact: true }).waitFor();
    expect(await page.locator('.cf-mark').count()).toBe(0);
  });

  test('shows and hides a conditional field', async () => {
    const page = await gallery.open('create');
    const show = (shown: boolean): Promise<void> => page.evaluate((on) => form.setShown('/settings/start', on), shown);
    await show(false);
    expect(await page.getByLabel('Start from').count()).toBe(0);
    await show(true);
    expect(await page.getByLabel('Start from').isVisible()).toBe(true);
  });

  test('a keystroke updates only its own field', async () => {
    const page = await gallery.open('kinds');
    await page.evaluate(() => {
      globalThis.touched = new Set();
      new MutationObserver((records) => {
        for (const { target } of records) {
          const element = target instanceof Element ? target : target.parentElement;
          touched.add(element?.closest('.cf-field')?.querySelector('.cf-label')?.textContent ?? 'page');
        }
      }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    });
    await page.getByLabel('Schedule').fill('0 0 * * *');
    await page.getByLabel('Account', { exact: true }).fill('x');
    expect(await page.evaluate(() => [...touched])).toEqual(['Schedule', 'Account']);
  });
});

describe('every state', () => {
  // The states differ little, and axe takes a second for each.
  test.each(['light', 'dark'])('axe finds no violation in %s', async (theme) => {
    const page = await gallery.open('create');
    for (const scene of dailyPart(scenes, theme === 'light' ? 2 : 4)) {
      await gallery.visit(page, scene, `&theme=${theme}`);
      await page.evaluate(() => {
        for (const fold of document.querySelectorAll('details')) fold.open = true;
      });
      expect(await axeViolations(page), scene).toEqual([]);
    }
  });

  test.each([320, 900])(
    'nothing is cut off at %i px in either writing direction, and the height is reported',
    async (width) => {
      const page = await gallery.open('create', { width });
      for (const scene of dailyPart(scenes, 2)) {
        for (const dir of ['ltr', 'rtl']) {
          await gallery.visit(page, scene, `&dir=${dir}`);
          await page.evaluate(
            () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
          );
          const { over, reported, height } = await page.evaluate(() => ({
            over: document.documentElement.scrollWidth - innerWidth,
            reported: heights,
            height: Math.ceil(document.querySelector('.cf-root')?.getBoundingClientRect().height ?? 0),
          }));
          expect(over, `${scene} ${dir}`).toBeLessThanOrEqual(0);
          expect(reported, `${scene} ${dir}`).toEqual([height]);
        }
      }
    },
  );
});
