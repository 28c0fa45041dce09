import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakeFrameHtml, serveFakeFrame } from '@connector-frame/core/testing';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { bundle } from '../support/bundle.js';
import { mountCore, serveCoreHost, callbacksOf, type CoreHost } from '../support/core-host.js';
import { serve } from '../support/serve.js';

// The three ways to test a host page without a service, written as a host developer would.

let browser: Browser;
let host: CoreHost;

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), serveCoreHost()]);
});
afterAll(async () => {
  await browser?.close();
  await host?.close();
});

test('in Playwright, a test serves the fake frame by fulfilling its URL', async () => {
  const page = await host.open(browser);
  const html = fakeFrameHtml({ saved: { id: 'con_7', name: 'Okta </script> & Co' } });
  await page.route('https://embed.example.com/**', (route) => route.fulfill({ contentType: 'text/html', body: html }));
  await mountCore(page, { frameOrigin: 'https://embed.example.com', existingId: 'con_7', displayName: 'Okta' });

  const form = page.frameLocator('iframe');
  await form.getByRole('heading', { name: 'Okta' }).waitFor();
  await form.getByText('Editing con_7').waitFor();
  await form.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(() => callbacksOf(page))
    .toEqual([['ready'], ['save', { id: 'con_7', name: 'Okta </script> & Co' }]]);
  await page.close();
});

test("in Node, serves a fake frame on its own origin and records the page's messages", async () => {
  const frame = await serveFakeFrame({ failure: { code: 'test_failed', message: 'Okta said no' } });
  const page = await host.open(browser);
  await mountCore(page, {
    frameOrigin: frame.frameOrigin,
    sessions: [{ sessionToken: 'a', organizationId: 'o' }, { sessionToken: 'b' }],
  });

  expect(await frame.waitFor('init')).toMatchObject({
    sessionToken: 'a',
    organizationId: 'o',
    typeId: 'okta-systemlog',
  });
  const form = page.frameLocator('iframe');
  await form.getByRole('button', { name: 'Fail' }).click();
  await form.getByRole('button', { name: 'Expire session' }).click();
  expect(await frame.waitFor('session')).toMatchObject({ sessionToken: 'b' });
  await form.getByText('Session renewed').waitFor();
  await expect
    .poll(async () => (await callbacksOf(page)).at(2))
    .toEqual(['error', 'test_failed', 'Okta said no', 'ConnectorFrameError', true]);
  await Promise.all([page.close(), frame.close()]);
});

test("in the page, a driver performs the user's actions", async () => {
  const frame = await serveFakeFrame();
  const code = await bundle(`
    import { createConnectorFrame } from '@connector-frame/core/connect';
    import { sendToFrame } from '@connector-frame/core/protocol';
    import { driveFakeFrame } from '@connector-frame/core/testing';

    globalThis.driven = async (frameOrigin) => {
      const callbacks = [];
      const next = () => new Promise((resolve) => (wake = resolve));
      let wake;
      const record = (...call) => (callbacks.push(call), wake?.());
      const frame = createConnectorFrame({
        container: document.body,
        frameOrigin,
        apiBase: frameOrigin,
        kind: 'output',
        typeId: 'splunk',
        sessionToken: 'token',
        organizationId: 'org_1',
        onReady: () => record('ready'),
        onSave: (connector) => record('save', connector),
        onCancel: () => record('cancel'),
        onError: (message, { code }) => record(code, message),
      });
      await next();
      const form = driveFakeFrame(document.querySelector('iframe'));
      form.save({ id: 'con_1', name: 'Splunk' });
      await next();
      form.fail('offline', 'No network');
      await next();
      form.expireSession();
      await next();
      form.send({ type: 'resize', height: 321 });
      sendToFrame(document.querySelector('iframe'), { source: 'monad-embed', type: 'command', command: 'test' });
      form.cancel();
      await next();
      const received = await form.received();
      const commands = await form.commands();
      const { height } = document.querySelector('iframe').style;
      frame.destroy();
      return { callbacks, height, commands, types: received.map(({ type, typeId }) => [type, typeId]) };
    };
  `);
  const site = await serve({
    '/': '<!doctype html><title>Page</title><script type="module" src="/test.js"></script><body>',
    '/test.js': { body: code, headers: { 'content-type': 'text/javascript' } },
  });
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.waitForFunction(() => 'driven' in globalThis);
  const result = await page.evaluate(`driven('${frame.frameOrigin}')`);
  expect(result).toEqual({
    callbacks: [
      ['ready'],
      ['save', { id: 'con_1', name: 'Splunk' }],
      ['offline', 'No network'],
      ['session_expired', 'fetchSession is not set'],
      ['cancel'],
    ],
    height: '321px',
    commands: ['test'],
    types: [
      ['init', 'splunk'],
      ['command', undefined],
    ],
  });
  await Promise.all([page.close(), site.close(), frame.close()]);
});

test('the fake frame handles commands and leave: at once, after a question, or never', async () => {
  const leaves = ['left', 'ask', 'unknown'] as const;
  const forms = await Promise.all(leaves.map((leave) => serveFakeFrame({ leave })));
  const page = await host.open(browser);
  await page.evaluate(() => {
    const types: unknown[] = [];
    addEventListener('message', ({ data }) => types.push(data.answersLeave ? 'ready, answers' : data.type));
    Object.assign(globalThis, { types });
  });
  const shownEvents = () => page.evaluate("types.filter((type) => /^ready|left/.test(type)).join(' ')");
  const send = (message: object) =>
    page.evaluate((data) => {
      const iframe = document.querySelector('iframe');
      if (iframe) coreHost.sendToFrame(iframe, { source: 'monad-embed', ...data });
    }, message);

  for (const [at, frame] of forms.entries()) {
    await mountCore(page, { frameOrigin: frame.frameOrigin });
    await expect
      .poll(async () => (await callbacksOf(page)).filter(([callback]) => callback === 'ready'))
      .toHaveLength(at + 1);

    await send({ type: 'command', command: 'cancel' });
    await send({ type: 'leave' });
    await frame.waitFor('leave');
    expect(await frame.waitFor('command')).toMatchObject({ command: 'cancel' });
    const canceled = async () => (await callbacksOf(page)).filter(([callback]) => callback === 'cancel').length;
    await expect.poll(canceled).toBe(Math.min(at + 1, 2));

    const discard = page.frameLocator('iframe').getByRole('button', { name: 'Discard' });
    expect(await discard.isVisible()).toBe(leaves[at] === 'ask');
    if (leaves[at] === 'ask') {
      expect(await shownEvents()).toBe('ready, answers left ready, answers');
      await discard.click();
      await expect.poll(shownEvents).toBe('ready, answers left ready, answers left');
    }
    await page.evaluate(() => coreHost.frames.at(-1)?.destroy());
  }
  expect(await shownEvents()).toBe('ready, answers left ready, answers left ready');
  await Promise.all([page.close(), ...forms.map((frame) => frame.close())]);
});

test('the fake frame can stay silent or send any message', async () => {
  const silent = await serveFakeFrame({ ready: false });
  const talking = await serveFakeFrame({
    afterInit: [
      { type: 'error', code: 'load_failed', message: 'The service is down' },
      { type: 'saved', connector: { id: 'con_1' } },
      { type: 'cancel' },
    ],
  });
  const page = await host.open(browser);
  await mountCore(page, { frameOrigin: silent.frameOrigin, loadTimeout: 300 });
  const codes = async () =>
    (await callbacksOf(page)).map(([callback, code]) => (callback === 'error' ? code : callback));
  await expect.poll(codes).toEqual(['frame_timeout']);
  await mountCore(page, { frameOrigin: talking.frameOrigin });
  await expect.poll(codes).toEqual(['frame_timeout', 'load_failed', 'save', 'cancel']);
  await Promise.all([page.close(), silent.close(), talking.close()]);
});
