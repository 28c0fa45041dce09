import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DrivenBrowser, DrivenPage } from '../support/engines/driven.js';
import { eventually } from '../support/engines/eventually.js';
import { frameUser, type FrameUser } from '../support/engines/frame-user.js';
import { inEngines } from '../support/engines/in-engines.js';
import { callbacks, openHost } from '../support/open-host.js';
import { serve } from '../support/serve.js';
import { styleRoute } from '../support/style-route.js';
import { startWorld, type World } from '../support/world.js';

/**
 * S31: a host page that holds only a session points an output at an attacker's server, hides
 * everything but the secret control, and asks the form to test or save.
 */

/**
 * The attacker's style sheet: hides everything except one control that looks like part of the page.
 */
const hide = `
  .cf-header, .cf-lock, .cf-note, .cf-help, .cf-head, .cf-fold, .cf-field:not(.cf-secret), .cf-footer { display: none !important }
  .cf-secret::after { content: 'Sent to trusted.example, kept for You'; position: absolute; inset: 0; z-index: 2147483647;
    background: white; pointer-events: none }
  cf-secret { opacity: 0.01 !important; clip-path: inset(0 0 60% 0) !important }
  .cf-field, .cf-body { overflow: hidden !important; filter: opacity(0.01) }`;

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
  }, '127.0.0.1');
  // The attacker's server runs on this machine, so the test opens no external connections.
  world = await startWorld({ EGRESS_ALLOW: '127.0.0.0/8' }, { '/hide.css': styleRoute(hide) }, '127.0.0.1');
});
afterAll(async () => {
  await Promise.all([world?.close(), attacker?.close()]);
});
beforeEach(() => void received.splice(0));

const SECRET = 'b5e1d6d0-canary-4c1f-9d4e-8a2b7c3d4e5f';
const where = () => new URL(attacker.origin).host;

/** Creates a connector with the session of the attacker's page. */
async function aimed(): Promise<string> {
  const { protocol, hostname, port } = new URL(attacker.origin);
  const { body } = await world.call('POST', `/v2/${world.team}/outputs`, {
    name: 'Collector',
    type: 'splunk',
    config: {
      settings: { url: `${protocol}//${hostname}`, port },
      secrets: { token: { value: 'd0d0d0d0-0000-4000-8000-000000000000' } },
    },
  });
  return String(body['id']);
}

interface Opened {
  page: DrivenPage;
  user: FrameUser;
}

/** Opens a form on the attacker's page. */
async function open(browser: DrivenBrowser, options: Record<string, unknown>): Promise<Opened> {
  const page = await openHost(browser, world, { kind: 'output', typeId: 'splunk', ...options });
  await expect.poll(() => callbacks(page)).toContainEqual({ type: 'ready' });
  return { page, user: frameUser(page) };
}

/** Opens a form whose page hides everything but the control. */
async function openHidden(browser: DrivenBrowser, options: Record<string, unknown>): Promise<Opened> {
  const opened = await open(browser, { ...options, stylesheets: [`${world.host}/hide.css`] });
  const frame = await opened.user.frame();
  await eventually('the sheet', () =>
    frame.evaluate(() => {
      const footer = document.querySelector('footer.cf-footer');
      return (footer && getComputedStyle(footer).display === 'none') || undefined;
    }),
  );
  return opened;
}

/** Sends a command as a malicious page would: takes focus away from the frame first. */
const command = (page: DrivenPage, name: string): Promise<void> =>
  page.evaluate((command) => {
    document.querySelector('iframe')?.blur();
    Object(globalThis).send({ type: 'command', command });
  }, name);

/** Clips the container so that only a strip of the frame is visible. */
const clip = (page: DrivenPage, height: string): Promise<void> =>
  page.evaluate((height) => {
    const box = document.getElementById('form');
    if (box) box.style.cssText = `height: ${height}; overflow: hidden`;
  }, height);

/** Waits until the frame's process has learned of the clip, which takes long on a busy machine. */
async function untilClipped({ user }: Opened): Promise<void> {
  const frame = await user.frame();
  await frame.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const observer = new IntersectionObserver(
          (entries) => {
            if ((entries.at(-1)?.intersectionRatio ?? 1) > 0.9) return;
            observer.disconnect();
            resolve();
          },
          { threshold: [0, 0.5, 0.9] },
        );
        for (const control of document.querySelectorAll('cf-secret')) observer.observe(control);
      }),
  );
}

async function enter({ page, user }: Opened): Promise<void> {
  await user.press('Replace HEC token');
  await user.focus({ label: 'HEC token' });
  await page.keyboard.type(SECRET);
  await expect.poll(() => user.value('HEC token')).toBe(SECRET);
}

/**
 * Adds `by` to the destination's port. A value that was not used before makes the destination one
 * that the user has not seen.
 */
async function aimElsewhere({ user }: Opened, by: number): Promise<void> {
  const frame = await user.frame();
  await frame.evaluate((by) => {
    const input = document.getElementById('cf/settings/port') as HTMLInputElement;
    input.value = String(Number(input.value) + by);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, by);
}

const sentence = async (user: FrameUser): Promise<string> =>
  (await user.find({ selector: '#sent' })).evaluate((element) => element.innerText.trim());

/**
 * Returns the visible pixels of the control (its text and the destination sentence), captured at a
 * fixed position in the page.
 */
async function pixels({ page, user }: Opened): Promise<Buffer> {
  const frame = await user.frame();
  const position = (): Promise<{ x: number; y: number }> =>
    frame.evaluate(() => {
      const { x = NaN, y = NaN } = document.querySelector('cf-secret')?.getBoundingClientRect() ?? {};
      return { x, y };
    });
  await page.evaluate(() => {
    const box = document.getElementById('form');
    if (box) box.style.cssText = 'position: fixed; left: 0; top: 0; width: 600px';
  });
  await frame.evaluate(() => {
    const { activeElement } = document;
    if (activeElement instanceof HTMLElement) activeElement.blur();
    return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))));
  });
  const { x, y } = await position();
  await page.evaluate((top) => {
    const box = document.getElementById('form');
    if (box) box.style.top = `${top}px`;
  }, 20 - y);
  // Wait until the frame is repainted at its new position.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true)))),
  );
  const clip = { x: Math.round(x) + 10, y: 21, width: 400, height: 66 };
  const png = await page.screenshot({ clip });
  // Blur: an engine may draw half a pixel lower under another sheet.
  return sharp(png).greyscale().blur(1.5).raw().toBuffer();
}

/** Returns the share of pixels whose values differ by more than 40 of 255. */
const difference = (one: Buffer, other: Buffer): number =>
  one.filter((value, index) => Math.abs(value - (other[index] ?? 0)) > 40).length / one.length;

const heardCodes = async (page: DrivenPage) => (await callbacks(page)).flatMap(({ code }) => code ?? []);

inEngines('a page with nothing but a session', ['Chromium'], ({ browser, testUnless }) => {
  describe('S31: the destination of a secret', () => {
    test('is visible wherever the control is, even if a style sheet hides it', async () => {
      const existingId = await aimed();
      const screenshots: Buffer[] = [];
      for (const opens of [open, openHidden]) {
        const opened = await opens(browser(), { existingId });
        await enter(opened);
        expect(await sentence(opened.user)).toBe(`Sent to ${where()}, kept for acme`);
        screenshots.push(await pixels(opened));
        await opened.page.close();
      }
      const [one = Buffer.alloc(0), other = Buffer.alloc(0)] = screenshots;
      expect(difference(one, other)).toBeLessThan(0.001);
      // Positive control: an image without the text differs.
      expect(difference(one, Buffer.alloc(one.length, one.at(0)))).toBeGreaterThan(0.02);
    });

    test('must be in view for a command to send the secret', async () => {
      const opened = await openHidden(browser(), { existingId: await aimed() });
      const { page } = opened;
      await enter(opened);
      const codes: string[] = [];
      for (const name of ['test', 'save']) {
        // Clip the sentence out of view.
        await clip(page, '12px');
        await untilClipped(opened);
        await aimElsewhere(opened, -1);
        await command(page, name);
        codes.push('destination_not_seen');
        await expect.poll(() => heardCodes(page)).toEqual(codes);
      }
      expect(received.join()).not.toContain(SECRET);
      await clip(page, 'auto');
      await aimElsewhere(opened, 2);
      // Rejected until the browser has painted the control again.
      await expect
        .poll(async () => {
          await command(page, 'test');
          return received.join();
        })
        .toContain(SECRET);
      await page.close();
    });

    // Other engines do not report to a frame what covers it (SECURITY.md).
    testUnless('trackVisibility', 'must not be covered by the page for a command to send the secret', async () => {
      const opened = await openHidden(browser(), { existingId: await aimed() });
      const { page } = opened;
      await enter(opened);
      // Wait until the form has checked for covering elements and found none.
      const frame = await opened.user.frame();
      await eventually('a look for covers', () =>
        frame.evaluate(() => Object(document.querySelector('cf-secret')).destinationSeen === true || undefined),
      );
      await page.evaluate(() => {
        const cover = document.createElement('div');
        cover.style.cssText = 'position: fixed; inset: 0; background: white; pointer-events: none';
        document.body.append(cover);
      });
      const codes: string[] = [];
      for (const name of ['test', 'save']) {
        await aimElsewhere(opened, -1);
        await command(page, name);
        codes.push('destination_not_seen');
        await expect.poll(() => heardCodes(page)).toEqual(codes);
      }
      expect(received.join()).not.toContain(SECRET);
      await page.close();
    });

    test('cannot be confirmed by a command while the user is typing', async () => {
      const opened = await open(browser(), { existingId: await aimed() });
      const { page } = opened;
      await enter(opened);
      await page.evaluate(() => {
        for (const command of ['test', 'save']) Object(globalThis).send({ type: 'command', command });
      });
      await expect.poll(() => heardCodes(page)).toEqual(['command_while_typing', 'command_while_typing']);
      expect(received.join()).not.toContain(SECRET);
      await page.close();
    });

    test('is shown with the name of the organization, if the session is for another one', async () => {
      const { teams } = await world.service.bootstrap({
        organization: 'Test',
        teams: ['Mallory Inc'],
        keyName: `key ${randomUUID()}`,
      });
      const organizationId = teams['Mallory Inc'] ?? '';
      const { body } = await world.call('POST', '/v3/sessions', { organization_id: organizationId });
      const { page, user } = await open(browser(), {
        kind: 'input',
        typeId: 'okta-systemlog',
        organizationId,
        sessionToken: String(body['session_token']),
      });
      await user.type('Organization URL', 'https://acme.okta.com');
      await expect.poll(() => sentence(user)).toBe('Sent to acme.okta.com, kept for Mallory Inc');
      await page.close();
    });
  });
});
