import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { callsOf, focused, status, useGallery, valueOf } from '../support/gallery.js';

const gallery = useGallery();

/**
 * Waits until a secret control has stored what was typed. It does so once the browser has reported
 * that it is visible; scrolled away before that, it waits until it is visible again.
 */
const stored = (page: Page, path: string, value: string): Promise<void> =>
  expect.poll(() => valueOf(page, path)).toBe(value);

/** Returns the names of the elements that the first ten presses of Tab focus. */
const walk = async (width: number): Promise<string[]> => {
  const page = await gallery.open('create', { width });
  const names: string[] = [];
  while (names.length < 10) {
    await page.keyboard.press('Tab');
    names.push(await focused(page));
  }
  return names;
};

describe('labels', () => {
  test('finds a control by its label and stores what is typed', async () => {
    const page = await gallery.open('kinds-empty');
    await page.getByLabel('Account', { exact: true }).fill('acme');
    await page.getByLabel('Organization URL').fill('https://acme.okta.com');
    await page.getByLabel('Port', { exact: true }).fill('443');
    await page.getByLabel('Query').fill('SELECT 1');
    await page.getByLabel('Verify certificates').check();
    await page.getByLabel('Region').selectOption('Europe (Ireland)');
    await page.getByLabel('Schedule').fill('30 6 * * 1-5');
    await page.getByLabel('API token').fill('not-a-real-token');
    await stored(page, '/secrets/api_token', 'not-a-real-token');
    await page.getByLabel('Service account key').fill('{}');
    await stored(page, '/secrets/service_account', '{}');
    expect(await valueOf(page, '/settings/text')).toBe('acme');
    expect(await valueOf(page, '/settings/org_url')).toBe('https://acme.okta.com');
    expect(await valueOf(page, '/settings/port')).toBe('443');
    expect(await valueOf(page, '/settings/query')).toBe('SELECT 1');
    expect(await valueOf(page, '/settings/tls')).toBe(true);
    expect(await valueOf(page, '/settings/region')).toBe('eu-west-1');
    expect(await page.getByText('Monday to Friday at 06:30 UTC').isVisible()).toBe(true);
    expect(gallery.problems).toEqual([]);
  });

  test('finds a secret that shares its name with a choice; clicking its label focuses it', async () => {
    const page = await gallery.open('blank');
    await page.getByLabel('API token').fill('x');
    await stored(page, '/secrets/api_token', 'x');
    await page.getByLabel('Organization URL').focus();
    await page.locator('label', { hasText: 'API token' }).click();
    expect(await focused(page)).toBe('API token');
  });

  test('help and errors describe their control, also of a secret', async () => {
    const page = await gallery.open('edit');
    const url = page.getByLabel('Organization URL');
    expect(await url.getAttribute('aria-invalid')).toBe('true');
    const described = ((await url.getAttribute('aria-describedby')) ?? '').split(' ');
    const texts = described.map((id) => page.locator(`[id="${id}"]`).textContent());
    const [error = '', help = ''] = await Promise.all(texts);
    expect(error).toContain('without “-admin”');
    expect(help).toContain('The address you sign in at');
    const token = page.getByLabel('API token');
    expect(await token.getAttribute('aria-invalid')).toBe('true');
    const description = await token.evaluate((input) => {
      const root = input.getRootNode();
      const ids = input.getAttribute('aria-describedby')?.split(' ') ?? [];
      return ids.map((id) => root instanceof ShadowRoot && root.getElementById(id)?.textContent).join(' ');
    });
    expect(description).toContain('Enter it again');
    expect(description).toContain('Sent to acme.okta.com, kept for Acme');
    expect(description).toContain('In Okta Admin');
  });

  test('a time is entered in local time, stored in UTC, and both are shown', async () => {
    const page = await gallery.open('kinds-empty');
    await page.getByLabel('Backfill from').fill('2026-11-12T09:30');
    expect(await valueOf(page, '/settings/since')).toBe('2026-11-12T08:30:00Z');
    expect(await page.getByText('Europe/Berlin time. In UTC: 12 Nov 2026, 08:30').isVisible()).toBe(true);
  });
});

describe('keyboard', () => {
  test('Tab follows the visual order, also in a narrow frame', async () => {
    const fields = [
      'Name',
      'Organization URL',
      'API token',
      'API token',
      'Show Show API token',
      'Start from',
      'Advanced',
    ];
    expect(await walk(560)).toEqual([...fields, 'Test connection', 'Cancel', 'Save']);
    expect(await walk(320)).toEqual([...fields, 'Save', 'Test connection', 'Cancel']);
  });

  test('arrow keys change a choice; Enter saves once, also from a secret', async () => {
    const page = await gallery.open('blank');
    await page.getByRole('radio', { name: 'API token' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await focused(page)).toBe('OAuth service app');
    expect(await valueOf(page, '/settings/auth/type')).toBe('oauth');
    expect(await page.getByLabel('Client ID').isVisible()).toBe(true);
    await page.keyboard.press('ArrowRight');
    expect(await valueOf(page, '/settings/auth/type')).toBe('token');
    const saving = await gallery.open('create');
    await saving.getByLabel('API token').press('Enter');
    await saving.evaluate(() => document.querySelector('form')?.requestSubmit());
    await saving.getByRole('heading', { name: 'Saved' }).waitFor();
    expect(await callsOf(saving)).toEqual(['save']);
  });

  test.each([
    { dir: 'ltr', walk: ['Hour', 'Minute', 'Second', 'Minute', 'Second', 'Second'] },
    { dir: 'rtl', walk: ['Second', 'Minute', 'Hour', 'Second', 'Hour', 'Hour'] },
  ])('arrow keys follow the writing direction, $dir', async ({ dir, walk }) => {
    const page = await gallery.open('kinds');
    await gallery.visit(page, 'kinds', `&dir=${dir}`);
    await page.getByRole('radio', { name: 'Minute', checked: true }).focus();
    const walked: unknown[] = [];
    for (const key of ['ArrowRight', 'ArrowLeft', 'ArrowLeft', 'ArrowDown', 'ArrowUp', 'PageDown']) {
      await page.keyboard.press(key);
      walked.push(await focused(page));
    }
    expect(walked).toEqual(walk);
  });

  test('an optional choice can be cleared', async () => {
    const page = await gallery.open('kinds');
    const choice = page.getByLabel('Proxy sign-in');
    await choice.selectOption('User and password');
    await page.getByLabel('Proxy user').fill('ana');
    await choice.selectOption({ index: 0 });
    expect(await choice.inputValue()).toBe('');
    expect(await page.getByLabel('Proxy user').count()).toBe(0);
  });

  test('adding and removing rows moves focus and announces the change', async () => {
    const page = await gallery.open('kinds-empty');
    const list = page.getByRole('group', { name: 'Event types' });
    await list.getByRole('button', { name: 'Add to Event type' }).press('Enter');
    expect(await focused(page)).toBe('Event type 1');
    await page.keyboard.type('a');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('Event type 2');
    await page.keyboard.type('b');
    await page.keyboard.press('Enter');
    await page.keyboard.type('c');
    await list.getByRole('button', { name: 'Remove Event type 2' }).press('Enter');
    expect(await focused(page)).toBe('Remove Event type 2');
    expect(await page.getByLabel('Event type 2').inputValue()).toBe('c');
    expect(await status(page)).toMatch(/Removed\. Event type: 2 left/);
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('Remove Event type 1');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toMatch(/Add to Event type/);
  });

  test('focuses added rows of objects, maps and secret maps', async () => {
    const page = await gallery.open('kinds-empty');
    for (const [group, first] of [
      ['Brokers', 'Broker host'],
      ['Headers', 'Name 1'],
      ['Secret headers', 'Name 1'],
    ] as const) {
      const list = page.getByRole('group', { name: group, exact: true });
      await list.getByRole('button', { name: `Add to ${group}` }).click();
      expect(await focused(page)).toBe(first);
      await page.keyboard.type('x');
    }
    expect(await valueOf(page, '/settings/brokers/0/host')).toBe('x');
    expect(await valueOf(page, '/settings/headers/0/key')).toBe('x');
    await stored(page, '/secrets/secret_headers/0/key', 'x');
    await page.getByRole('group', { name: 'Secret headers' }).getByLabel('Value 1').fill('hidden');
    await stored(page, '/secrets/secret_headers/0/value', 'hidden');
  });

  test('a stored secret can be replaced, kept, cleared and restored', async () => {
    const page = await gallery.open('kept');
    await page.getByRole('button', { name: 'Replace API token' }).press('Enter');
    expect(await focused(page)).toBe('API token');
    await page.keyboard.type('new');
    await page.getByRole('button', { name: 'Keep the saved API token' }).press('Enter');
    expect(await focused(page)).toMatch(/Replace API token/);
    expect(await valueOf(page, '/secrets/api_token')).toBeUndefined();
    expect(await page.getByRole('button', { name: 'Clear API token' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Clear Signing key' }).press('Enter');
    expect(await page.getByText('Will be removed when you save').isVisible()).toBe(true);
    expect(await focused(page)).toMatch(/Undo/);
    await page.keyboard.press('Enter');
    expect(await focused(page)).toMatch(/Replace Signing key/);
  });
});

describe('after a rejected save', () => {
  test('the summary gets focus and links to each field', async () => {
    const page = await gallery.open('blank');
    await page.getByLabel('Organization URL').press('Enter');
    expect(await focused(page)).toMatch(/^Two things to fix before saving/);
    await page.getByRole('link', { name: 'API token' }).press('Enter');
    expect(await focused(page)).toBe('API token');
    await page.getByRole('link', { name: 'Organization URL' }).click();
    expect(await focused(page)).toBe('Organization URL');
    expect(new URL(page.url()).hash).toBe('');
  });
});
