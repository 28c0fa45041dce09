import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Browser, Frame, Page } from 'playwright-core';
import sharp from 'sharp';
import { launchBrowser } from '../support/browser.js';
import { heard, mount } from '../support/open-host.js';
import { serve } from '../support/serve.js';
import { startWorld, type World } from '../support/world.js';

/**
 * S31: a host page that holds nothing but a session aims an output at a server of its own, hides everything but the secret, and asks the
 * form to test or save.
 */

/** What an attacker would serve as `stylesheets`: nothing is left but one control, which looks like part of the page. */
const hide = `
  .cf-header, .cf-lock, .cf-note, .cf-help, .cf-head, .cf-fold, .cf-field:not(.cf-secret), .cf-footer { display: none !important }
  .cf-secret::after { content: 'Sent to trusted.example, kept for You'; position: absolute; inset: 0; z-index: 2147483647;
    background: white; pointer-events: none }
  cf-secret { opacity: 0.01 !important; clip-path: inset(0 0 60% 0) !important }
  .cf-field, .cf-body { overflow: hidden !important; filter: opacity(0.01) }`;

let browser: Browser;
let world: World;
let attacker: Awaited<ReturnType<typeof serve>>;
const received: string[] = [];

beforeAll(async () => {
  attacker = await serve((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      received.push(JSON.stringify(request.headers) + body);
      response.writeHead(200).end();
    });
  });
  const sheet = {
    body: hide,
    headers: {
      'content-type': 'text/css',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    },
  };
  // The attacker's server is on this machine, so that nothing is dialed elsewhere.
  const environment = { EGRESS_ALLOW: '127.0.0.0/8,::1/128' };
  [browser, world] = await Promise.all([launchBrowser(), startWorld(environment, { '/hide.css': sheet })]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close(), attacker?.close()]);
});
beforeEach(() => void received.splice(0));

const SECRET = 'b5e1d6d0-canary-4c1f-9d4e-8a2b7c3d4e5f';
const where = () => attacker.origin.replace('http://', '').replace('localhost', '127.0.0.1');

/** A connector that the attacker made with the session of its own page. */
async function aimed(): Promise<string> {
  const [host, port = ''] = where().split(':');
  const url = `http://${host}`;
  const { body } = await world.call('POST', `/v2/${world.team}/outputs`, {
    name: 'Collector',
    type: 'splunk',
    config: { settings: { url, port }, secrets: { token: { value: 'd0d0d0d0-0000-4000-8000-000000000000' } } },
  });
  return String(body['id']);
}

/** A form of which its host page leaves nothing but the control. */
async function open(options: Record<string, unknown>, session?: string): Promise<{ page: Page; inside: Frame }> {
  const page = await browser.newPage();
  await page.goto(world.host);
  await page.waitForFunction(() => 'mount' in globalThis);
  await mount(page, world, {
    kind: 'output',
    typeId: 'splunk',
    ...(session !== undefined && { sessionToken: session }),
    ...options,
  });
  await expect.poll(() => heard(page)).toContainEqual({ type: 'ready' });
  const inside = page.frames()[1];
  if (!inside) throw new Error('no frame');
  return { page, inside };
}

const command = (page: Page, name: string): Promise<void> =>
  page.evaluate((command) => {
    document.querySelector('iframe')?.blur();
    const { send } = globalThis as unknown as { send(message: object): void };
    send({ type: 'command', command });
  }, name);

/** Shape of the page around the frame, so that only a strip of the frame can be seen. */
const clip = (page: Page, height: string): Promise<void> =>
  page.evaluate((height) => {
    const box = document.getElementById('form');
    if (box) box.style.cssText = `height: ${height}; overflow: hidden`;
  }, height);

async function enter(inside: Frame): Promise<void> {
  await inside.getByRole('button', { name: /^Replace/ }).click();
  const token = inside.getByLabel('HEC token');
  await token.pressSequentially(SECRET);
  await expect.poll(() => token.inputValue()).toBe(SECRET);
}

/** What the person sees of the control: its text and the sentence. Its width is that of the page. */
async function pixels(inside: Frame): Promise<string> {
  const control = inside.locator('cf-secret');
  await inside.page().mouse.move(0, 0);
  await inside.getByLabel('HEC token').evaluate((input) => input.blur());
  const image = sharp(await control.screenshot());
  return (await image.extract({ left: 10, top: 1, width: 500, height: 66 }).raw().toBuffer()).toString('base64');
}

const heardCodes = async (page: Page) => (await heard(page)).flatMap(({ code }) => code ?? []);

describe('S31: where a secret goes', () => {
  test('is seen by whoever sees its control, under sheets that hide it', async () => {
    const existingId = await aimed();
    const looks = [];
    for (const stylesheets of [undefined, [`${world.host}/hide.css`]]) {
      const { page, inside } = await open({ existingId, ...(stylesheets && { stylesheets }) });
      if (stylesheets) await inside.locator('footer.cf-footer').waitFor({ state: 'hidden' });
      await enter(inside);
      const sentence = inside.locator('cf-secret #sent');
      expect((await sentence.innerText()).trim()).toBe(`Sent to ${where()}, kept for acme`);
      expect(await sentence.isVisible()).toBe(true);
      looks.push(await pixels(inside));
      await page.close();
    }
    expect(looks[0]).toBe(looks[1]);
  });

  test('decides: a command while it is out of sight sends nothing, one while it is in sight does', async () => {
    const { page, inside } = await open({ existingId: await aimed(), stylesheets: [`${world.host}/hide.css`] });
    await enter(inside);
    const refusals: string[] = [];
    for (const name of ['test', 'save'] as const) {
      // The address is another one from here on, and the page keeps the sentence out of sight.
      await clip(page, '12px');
      await inside.locator('[id="cf/settings/port"]').evaluate((input: HTMLInputElement) => {
        input.value = input.value.endsWith('0') ? input.value.slice(0, -1) : `${input.value}0`;
        input.dispatchEvent(new Event('input', { bubbles: true }));
      });
      await command(page, name);
      refusals.push('destination_not_seen');
      await expect.poll(() => heardCodes(page)).toEqual(refusals);
    }
    expect(received.join()).not.toContain(SECRET);
    await clip(page, 'auto');
    await command(page, 'test');
    await expect.poll(() => received.join()).toContain(SECRET);
    await page.close();
  });

  test('is not decided by a command while the person is still typing', async () => {
    const { page, inside } = await open({ existingId: await aimed() });
    await enter(inside);
    await page.evaluate(() => {
      const { send } = globalThis as unknown as { send(message: object): void };
      for (const command of ['test', 'save']) send({ type: 'command', command });
    });
    await expect.poll(() => heardCodes(page)).toEqual(['command_while_typing', 'command_while_typing']);
    expect(received.join()).not.toContain(SECRET);
    await page.close();
  });

  test('and whose it will be stands beside it: a session of another organization shows its name', async () => {
    const { teams } = await world.service.bootstrap({
      organization: 'Test',
      teams: ['Mallory Inc'],
      keyName: 'another key',
    });
    const other = teams['Mallory Inc'] ?? '';
    const { body } = await world.call('POST', '/v3/sessions', { organization_id: other });
    const { page, inside } = await open(
      { kind: 'input', typeId: 'okta-systemlog', organizationId: other },
      String(body['session_token']),
    );
    await inside.getByLabel('Organization URL').fill('https://acme.okta.com');
    const sentence = inside.locator('cf-secret #sent');
    expect((await sentence.innerText()).trim()).toBe('Sent to acme.okta.com, kept for Mallory Inc');
    await page.close();
  });
});
