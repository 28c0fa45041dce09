import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveFakeFrame, type FakeFrameOptions } from '@connector-frame/core/testing';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { mountCore, serveCoreHost, callbacksOf, type CoreHost } from '../support/core-host.js';

let browser: Browser;
let host: CoreHost;

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), serveCoreHost()]);
});
afterAll(async () => {
  await browser?.close();
  await host?.close();
});

async function withForm(options: Record<string, unknown>, form: FakeFrameOptions = {}) {
  const frame = await serveFakeFrame(form);
  const page = await host.open(browser);
  await mountCore(page, { frameOrigin: frame.frameOrigin, ...options });
  return {
    frame,
    page,
    callbacks: () => callbacksOf(page),
    expire: () => page.frameLocator('iframe').getByRole('button', { name: 'Expire session' }).click(),
    openGate: () => page.evaluate(() => coreHost.openGate?.()),
    close: () => Promise.all([page.close(), frame.close()]),
  };
}

const session = (token: string) => ({ sessionToken: token, organizationId: 'org_9' });
const failed = (message: string) => ['error', 'session_failed', message, 'ConnectorFrameError', true];

test('fetchSession provides token and organization', async () => {
  const { frame, callbacks, close } = await withForm({ sessions: [session('first')] });
  expect(await frame.waitFor('init')).toMatchObject(session('first'));
  await expect.poll(callbacks).toEqual([['fetchSession'], ['ready']]);
  await close();
});

test('organizationId may be given together with fetchSession', async () => {
  const options = { organizationId: 'org_1', sessions: [{ sessionToken: 'first' }] };
  const { frame, close } = await withForm(options);
  expect(await frame.waitFor('init')).toMatchObject({ sessionToken: 'first', organizationId: 'org_1' });
  await close();
});

test('a form that is ready first gets the session as soon as it resolves', async () => {
  const slow = { ...session('slow'), gate: true };
  const { frame, page, openGate, close } = await withForm({ sessions: [slow] });
  await page.frameLocator('iframe').getByText('Waiting for init').waitFor();
  await expect.poll(() => page.evaluate(() => 'openGate' in coreHost)).toBe(true);
  expect(frame.received).toEqual([]);
  await openGate();
  expect(await frame.waitFor('init')).toMatchObject({ sessionToken: 'slow' });
  await close();
});

test('a session that resolves first waits for the form', async () => {
  const { frame, callbacks, close } = await withForm({ sessions: [session('early')] }, { ready: 300 });
  await expect.poll(callbacks).toEqual([['fetchSession']]);
  expect(frame.received).toEqual([]);
  expect(await frame.waitFor('init')).toMatchObject({ sessionToken: 'early' });
  await close();
});

test('a mounted form gets the renewed token, and so does a reloaded form', async () => {
  const fresh = { ...session('second'), expiresAt: '2026-11-12T10:00:00Z' };
  const { frame, page, callbacks, expire, close } = await withForm({ sessions: [session('first'), fresh] });
  await expire();
  expect(await frame.waitFor('session')).toEqual({
    source: 'monad-embed',
    type: 'session',
    sessionToken: 'second',
    expiresAt: fresh.expiresAt,
  });
  await page.frames()[1]?.evaluate(() => location.reload());
  await expect
    .poll(() => frame.received.map((message) => [message.type, 'sessionToken' in message && message.sessionToken]))
    .toEqual([
      ['init', 'first'],
      ['session', 'second'],
      ['init', 'second'],
    ]);
  expect((await callbacks()).filter(([callback]) => callback === 'error')).toEqual([]);
  await close();
});

test('fetchSession renews a given token', async () => {
  const { frame, callbacks, expire, close } = await withForm({
    sessionToken: 'given',
    organizationId: 'org_1',
    sessions: [session('second')],
  });
  expect(await frame.waitFor('init')).toMatchObject({ sessionToken: 'given' });
  expect(await callbacks()).not.toContainEqual(['fetchSession']);
  await expire();
  expect(await frame.waitFor('session')).toMatchObject({ sessionToken: 'second' });
  await close();
});

test('concurrent requests share one call', async () => {
  const slow = { ...session('second'), gate: true };
  const { frame, page, callbacks, expire, openGate, close } = await withForm({ sessions: [session('first'), slow] });
  const requests = await page.evaluateHandle(() => {
    const requests: unknown[] = [];
    addEventListener('message', ({ data }) => data?.type === 'session_request' && requests.push(data));
    return requests;
  });
  for (let count = 0; count < 3; count += 1) await expire();
  await expect.poll(() => requests.evaluate((requests) => requests.length)).toBe(3);
  await openGate();
  await frame.waitFor('session');
  expect((await callbacks()).filter(([callback]) => callback === 'fetchSession')).toHaveLength(2);
  expect(frame.received).toHaveLength(2);
  await close();
});

test('an expired session without fetchSession is an error', async () => {
  const { callbacks, expire, close } = await withForm({});
  await expire();
  await expect
    .poll(callbacks)
    .toContainEqual(['error', 'session_expired', 'fetchSession is not set', 'ConnectorFrameError', true]);
  await close();
});

const failures: { name: string; response: object | undefined; says: string }[] = [
  { name: 'fails', response: { error: 'HTTP 403' }, says: 'fetchSession: Error: HTTP 403' },
  { name: 'answers without a token', response: { organizationId: 'org_1' }, says: 'fetchSession: session is not set' },
  {
    name: 'answers without an organization',
    response: { sessionToken: 'x' },
    says: 'fetchSession: session is not set',
  },
];

test.each(failures)(
  'a fetchSession that $name is an error, and the next attempt succeeds',
  async ({ response, says }) => {
    const { frame, page, callbacks, close } = await withForm(
      { sessions: [response, response, session('third')] },
      { ready: 200 },
    );
    await expect.poll(callbacks).toContainEqual(failed(says));
    await page.frameLocator('iframe').getByText('Waiting for init').waitFor();
    // Reload the form, as a user could.
    await expect
      .poll(async () => (await callbacks()).filter(([callback]) => callback === 'fetchSession').length)
      .toBe(2);
    await page.frames()[1]?.evaluate(() => location.reload());
    expect(await frame.waitFor('init')).toMatchObject({ sessionToken: 'third' });
    await close();
  },
);

test('a synchronous exception in fetchSession is reported asynchronously', async () => {
  const frame = await serveFakeFrame();
  const page = await host.open(browser);
  const order = await page.evaluate(async (frameOrigin) => {
    const { mount } = coreHost;
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      const handle = mount({
        frameOrigin,
        sessionToken: undefined,
        fetchSession: () => {
          throw new Error('offline');
        },
        onError: (message: string) => {
          order.push(message);
          handle.destroy();
          resolve();
        },
      });
      order.push('mounted');
    });
    return order;
  }, frame.frameOrigin);
  expect(order).toEqual(['mounted', 'fetchSession: Error: offline']);
  await Promise.all([page.close(), frame.close()]);
});

test('a fetchSession that does not resolve in time is reported, and its late result is used', async () => {
  const slow = { ...session('late'), gate: true };
  const { frame, callbacks, openGate, close } = await withForm({ sessions: [slow], loadTimeout: 400 });
  await expect.poll(callbacks).toContainEqual(failed('fetchSession does not answer'));
  await openGate();
  expect(await frame.waitFor('init')).toMatchObject({ sessionToken: 'late' });
  await close();
});

test('a session that resolves after destroy is discarded', async () => {
  const slow = { ...session('late'), gate: true };
  const { frame, page, callbacks, openGate, close } = await withForm({ sessions: [slow] });
  await page.frameLocator('iframe').getByText('Waiting for init').waitFor();
  await page.evaluate(() => coreHost.frames[0]?.destroy());
  await openGate();
  await page.evaluate(() => new Promise((next) => requestAnimationFrame(next)));
  expect(frame.received).toEqual([]);
  expect(await callbacks()).toEqual([['fetchSession']]);
  await close();
});
