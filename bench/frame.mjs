import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { createApp, loadFormAssets } from '@connector-frame/service';
import { FIELDS, thirtyFields } from './fields.mjs';
import { median, report, sideBySide } from './lib.mjs';
import { openService } from './open-service.mjs';

const ROUNDS = 20;
const KEYS = 400;

const root = fileURLToPath(new URL('../', import.meta.url));
const script = async (input) => {
  const result = await build({ ...input, bundle: true, minify: true, format: 'esm', target: 'es2022', write: false });
  return result.outputFiles[0].text;
};

const listen = (handler, name = 'localhost') =>
  new Promise((resolve) => {
    const server = createServer(handler);
    server.listen(0, name, () => resolve({ server, origin: `http://${name}:${server.address().port}` }));
  });

const HOST_CODE = `
  import { createConnectorFrame } from '@connector-frame/core/connect';
  globalThis.createConnectorFrame = createConnectorFrame;`;

/**
 * Starts the host page, the service with the thirty-field type, and the bare page on the service's
 * origin.
 */
export async function openPages(hostName = 'localhost', contents = HOST_CODE) {
  const service = await openService();
  const hostScript = await script({ stdin: { contents, resolveDir: `${root}test` } });
  const bareScript = await script({
    entryPoints: [`${root}bench/bare-page.mjs`],
    nodePaths: [`${root}packages/form/node_modules`],
  });
  const host = await listen((request, response) => {
    const isScript = request.url === '/host.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript
        ? hostScript
        : '<!doctype html><title>Host</title><div id="form"></div><script type="module" src="/host.js"></script>',
    );
  }, hostName);
  let handle = (_request, response) => response.end();
  const api = await listen((request, response) => handle(request, response));
  const { catalog } = service.deps;
  const app = createApp({
    ...service.deps,
    catalog: {
      ...catalog,
      list: (kind) => [...catalog.list(kind), ...(kind === 'input' ? [thirtyFields] : [])],
      get: (kind, id) => (id === thirtyFields.type_id ? thirtyFields : catalog.get(kind, id)),
      icon: (id) => catalog.icon(id),
      iconName: (id) => catalog.iconName(id),
    },
    form: await loadFormAssets(`${root}packages/form/dist`),
    settings: { publicUrl: api.origin, allowedParentOrigins: [host.origin] },
  });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  handle = (request, response) => {
    if (!request.url.startsWith('/bare/')) return void listener(request, response);
    const isScript = request.url.startsWith('/bare/page.js');
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript ? bareScript : '<!doctype html><title>Bare</title><script type="module" src="page.js"></script>',
    );
  };
  const minted = await app.fetch(
    new Request(`${api.origin}/v3/sessions`, {
      method: 'POST',
      headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ organization_id: service.team, ttl_seconds: 3600 }),
    }),
  );
  const { session_token: sessionToken } = await minted.json();
  return {
    host: host.origin,
    options: {
      container: '#form',
      sessionToken,
      organizationId: service.team,
      kind: 'input',
      typeId: thirtyFields.type_id,
      frameOrigin: `${api.origin}/embed`,
      apiBase: api.origin,
    },
    async close() {
      for (const { server } of [host, api]) {
        server.closeAllConnections();
        server.close();
      }
      await service.close();
    },
  };
}

export const launch = (args = []) =>
  chromium.launch({
    executablePath: process.env.CHROME_PATH,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...args],
  });

/**
 * Runs in the frame. Posts the time at which its controls were painted to the page, on the clock
 * that both share. It uses a message because a query from the test driver would make the browser
 * evaluate the driver's own script during the measurement.
 */
function notePainted(count) {
  if (parent === self) return;
  const controls = (tree) =>
    [...tree.querySelectorAll('*')].reduce(
      (sum, element) =>
        sum +
        (element.shadowRoot ? controls(element.shadowRoot) : 0) +
        (element.matches('input, select, textarea') ? 1 : 0),
      0,
    );
  const observer = new MutationObserver(() => {
    if (!document.body || controls(document.body) < count) return;
    observer.disconnect();
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => parent.postMessage({ painted: performance.timeOrigin + performance.now() }, '*');
      port2.postMessage(null);
    });
  });
  observer.observe(document, { childList: true, subtree: true });
}

/**
 * Returns the milliseconds from the call on the host page to the painted fields, in a browser
 * without a cache.
 */
async function timeToPaint(browser, pages, mount) {
  const context = await browser.newContext();
  await context.addInitScript(`(${notePainted})(${FIELDS})`);
  const page = await context.newPage();
  await page.goto(pages.host);
  await page.waitForFunction(() => 'createConnectorFrame' in globalThis);
  await page.evaluate(() => {
    globalThis.painted = new Promise((resolve) => {
      addEventListener('message', ({ data }) => data.painted && resolve(data.painted));
    });
  });
  const started = await page.evaluate(mount, pages.options);
  const painted = await page.evaluate(() => globalThis.painted);
  await context.close();
  return painted - started;
}

function mountForm(options) {
  const started = performance.timeOrigin + performance.now();
  globalThis.createConnectorFrame(options);
  return started;
}

function mountBare({ frameOrigin, ...init }) {
  const started = performance.timeOrigin + performance.now();
  const { origin } = new URL(frameOrigin);
  const iframe = document.createElement('iframe');
  iframe.style.width = '100%';
  iframe.style.height = '900px';
  addEventListener('message', (event) => {
    if (event.source === iframe.contentWindow && event.origin === origin)
      iframe.contentWindow.postMessage(init, origin);
  });
  iframe.src = `${origin}/bare/?parentOrigin=${encodeURIComponent(location.origin)}`;
  document.querySelector('#form').append(iframe);
  return started;
}

/**
 * Returns the sorted durations, in milliseconds, of a key press in the form's event handlers, in
 * the middle of thirty fields.
 */
async function keyPress(browser, pages) {
  const page = await browser.newPage();
  await page.goto(pages.host);
  await page.waitForFunction(() => 'createConnectorFrame' in globalThis);
  await page.evaluate(mountForm, pages.options);
  await page
    .frameLocator('iframe')
    .getByLabel('Account 9')
    .or(page.frameLocator('iframe').getByLabel('Folder 15'))
    .first()
    .waitFor();
  const frame = page.frames().find((one) => one !== page.mainFrame());
  const times = await frame.evaluate(async (keys) => {
    const input = document.querySelectorAll('input[type="text"], input:not([type])')[10];
    const spent = [];
    input.focus();
    for (let key = 0; key < keys; key += 1) {
      input.value += 'a';
      const started = performance.now();
      input.dispatchEvent(
        new InputEvent('input', { bubbles: true, composed: true, data: 'a', inputType: 'insertText' }),
      );
      await Promise.resolve();
      spent.push(performance.now() - started);
      if (key % 50 === 49) await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    return spent;
  }, KEYS);
  await page.close();
  return times.sort((a, b) => a - b);
}

/**
 * Compares the form with the bare page. `hostName` decides whether the host and the service are
 * same-site (`app.` and `connect.` of one domain) or cross-site; browsers run cross-site frames in
 * a separate process.
 */
async function comparePaint(browser, name, hostName) {
  const pages = await openPages(hostName);
  try {
    await timeToPaint(browser, pages, mountForm);
    await timeToPaint(browser, pages, mountBare);
    const { a, b, ratio } = await sideBySide(
      ROUNDS,
      () => timeToPaint(browser, pages, mountForm),
      () => timeToPaint(browser, pages, mountBare),
    );
    const told = `${ratio.toFixed(2)} times a bare Lit page (${a.toFixed(0)} ms against ${b.toFixed(0)} ms)`;
    report(`from the call to ${FIELDS} painted fields, ${name}`, told, 'at most 1.2', ratio <= 1.2);
  } finally {
    await pages.close();
  }
}

export default async function frame() {
  const [pages, browser] = await Promise.all([openPages(), launch()]);
  try {
    await comparePaint(browser, 'two sites', '127.0.0.1');
    await comparePaint(browser, 'one site', 'localhost');

    const times = await keyPress(browser, pages);
    const slow = times[Math.floor(times.length * 0.95)];
    report(
      'a key press in the form',
      `${median(times).toFixed(3)} ms, 95th percentile ${slow.toFixed(3)} ms`,
      'under 1 ms',
      slow < 1,
    );
  } finally {
    await browser.close();
    await pages.close();
  }
}
