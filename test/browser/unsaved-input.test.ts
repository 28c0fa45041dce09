import { describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { useElementPages } from '../support/element-pages.js';
import { eventsOf } from '../support/element-world.js';
import { press } from '../support/press.js';

/** Typed input is not lost by Cancel, Escape or a reload of the page without a question. */
const on = useElementPages();

const tag =
  '<connector-frame id="form" kind="input" type-id="okta-systemlog" host-url="/api" tenant-id="acme"></connector-frame>';
const form = (page: Page) => page.frameLocator('iframe');
const url = (page: Page) => form(page).getByLabel('Organization URL');
const token = (page: Page) => form(page).getByLabel('API token', { exact: true });
const question = (page: Page) => form(page).getByRole('alertdialog', { name: 'Discard what you typed?' });
const events = async (page: Page) => (await eventsOf(page)).map(([event]) => event);

async function openForm(): Promise<Page> {
  const page = await on.open(tag);
  await url(page).waitFor();
  return page;
}

async function type(page: Page): Promise<void> {
  await url(page).click();
  await page.keyboard.type('https://acme.okta.com');
}

/** Reloads the page. Returns whether the browser asked; the user stays if `stay`. */
async function reload(page: Page, stay: boolean): Promise<boolean> {
  let asked = false;
  page.once('dialog', (dialog) => {
    asked = dialog.type() === 'beforeunload';
    void (stay ? dialog.dismiss() : dialog.accept());
  });
  if (stay) {
    await page.evaluate(() => setTimeout(() => location.reload()));
    await expect.poll(() => asked).toBe(true);
  } else await page.reload();
  page.removeAllListeners('dialog');
  return asked;
}

describe('a reload of the page', () => {
  test('does not ask if nothing was typed', async () => {
    const page = await openForm();
    await url(page).click();
    expect(await reload(page, false)).toBe(false);
  });

  test.each(['a setting', 'a secret'])('asks after %s was typed, and the input stays', async (what) => {
    const page = await openForm();
    if (what === 'a setting') await type(page);
    else {
      await token(page).click();
      await page.keyboard.type('00QC');
      await expect.poll(() => token(page).inputValue()).toBe('00QC');
    }
    expect(await reload(page, true)).toBe(true);
    if (what === 'a setting') expect(await url(page).inputValue()).toBe('https://acme.okta.com');
    else expect(await token(page).inputValue()).toBe('00QC');
    // The user agrees this time.
    expect(await reload(page, false)).toBe(true);
  });

  test('does not ask after a save', async () => {
    const page = await openForm();
    await type(page);
    await token(page).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
    await press(form(page).getByRole('button', { name: 'Save', exact: true }));
    await expect.poll(() => events(page)).toContain('save');
    expect(await reload(page, false)).toBe(false);
  });

  test('does not ask after Cancel and Discard', async () => {
    const page = await openForm();
    await type(page);
    await press(form(page).getByRole('button', { name: 'Cancel' }));
    await press(form(page).getByRole('button', { name: 'Discard' }));
    await expect.poll(() => events(page)).toContain('cancel');
    expect(await reload(page, false)).toBe(false);
  });

  test('does not ask after the form was removed', async () => {
    const page = await openForm();
    await type(page);
    await page.evaluate(() => document.querySelector('connector-frame')?.remove());
    expect(await reload(page, false)).toBe(false);
  });
});

describe('Cancel', () => {
  test('is reported at once if nothing was typed', async () => {
    const page = await openForm();
    await press(form(page).getByRole('button', { name: 'Cancel' }));
    await expect.poll(() => events(page)).toContain('cancel');
  });

  test('asks once, by keyboard, and is reported after Discard', async () => {
    const page = await openForm();
    await type(page);
    await form(page).getByRole('button', { name: 'Cancel' }).focus();
    await page.keyboard.press('Enter');
    await question(page).waitFor();
    expect(await events(page)).not.toContain('cancel');
    await page.keyboard.press('Escape');
    await expect.poll(() => question(page).count()).toBe(0);
    expect(await url(page).inputValue()).toBe('https://acme.okta.com');
    await form(page).getByRole('button', { name: 'Cancel' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => events(page)).toContain('cancel');
    expect(await question(page).count()).toBe(0);
  });

  test('of the page asks too', async () => {
    const page = await openForm();
    await type(page);
    await page.evaluate(() => {
      const element: unknown = document.querySelector('connector-frame');
      (element as { cancel(): void }).cancel();
    });
    await question(page).waitFor();
    expect(await events(page)).not.toContain('cancel');
  });
});

test('Escape in a field changes nothing', async () => {
  const page = await openForm();
  await type(page);
  await page.keyboard.press('Escape');
  expect(await url(page).inputValue()).toBe('https://acme.okta.com');
  expect(await question(page).count()).toBe(0);
  expect(await events(page)).toEqual(['ready']);
});

test('an offline message ends with the connection', async () => {
  const page = await openForm();
  await type(page);
  await token(page).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
  await page.context().setOffline(true);
  await press(form(page).getByRole('button', { name: 'Save', exact: true }));
  await form(page).getByRole('heading', { name: 'You are offline' }).waitFor();
  await page.context().setOffline(false);
  await expect.poll(() => form(page).getByRole('heading', { name: 'You are offline' }).count()).toBe(0);
  expect(await url(page).inputValue()).toBe('https://acme.okta.com');
});

test.each([700, 320])('help stays beside an error, also in the description, at %i px', async (width) => {
  const page = await openForm();
  await page.setViewportSize({ width, height: 900 });
  await press(form(page).getByRole('button', { name: 'Save', exact: true }));
  const error = form(page).getByText('Enter the organization URL');
  const help = form(page).getByText('The address people sign in at');
  await error.waitFor();
  expect(await help.isVisible()).toBe(true);
  const boxes = await Promise.all([error.boundingBox(), help.boundingBox()]);
  expect((boxes[0]?.y ?? 0) + (boxes[0]?.height ?? 0)).toBeLessThanOrEqual(boxes[1]?.y ?? 0);
  const description = await url(page).evaluate((input) =>
    (input.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent?.trim().slice(0, 14)),
  );
  expect(description).toEqual(['Enter the orga', 'The address pe']);
});
