import { launch, openPages } from './frame.mjs';
import { report, sideBySide } from './lib.mjs';

const CODE = `
  import { createConnectorFrame } from '@connector-frame/core/connect';
  import { preloadConnectorFrame } from '@connector-frame/core/preload';
  Object.assign(globalThis, { createConnectorFrame, preloadConnectorFrame });`;

const ROUNDS = 20;

/**
 * Runs in the frame. Posts the time at which `init` arrived to the page, on the clock that both
 * share.
 */
function noteInit() {
  if (parent === self) return;
  addEventListener('message', ({ data }) => {
    if (data.type === 'init') parent.postMessage({ initAt: performance.timeOrigin + performance.now() }, '*');
  });
}

/**
 * Runs on the page before the measured call: preloads the frame, then waits 100 ms after its `load`
 * event.
 */
async function prepare({ frameOrigin }) {
  globalThis.preloadConnectorFrame({ frameOrigin });
  const iframe = document.querySelector('html > iframe');
  await new Promise((resolve) => iframe.addEventListener('load', resolve));
  await new Promise((resolve) => setTimeout(resolve, 100));
}

function mount(options) {
  return new Promise((resolve) => {
    const started = performance.timeOrigin + performance.now();
    addEventListener('message', ({ data }) => data.initAt && resolve(data.initAt - started));
    globalThis.createConnectorFrame(options);
  });
}

/**
 * Returns the milliseconds from the call on the host page to `init` in the frame, in a browser
 * without a cache.
 */
async function timeToInit(browser, pages, { prepared, movable }) {
  const context = await browser.newContext();
  await context.addInitScript(noteInit);
  if (!movable) await context.addInitScript(() => delete Element.prototype.moveBefore);
  const page = await context.newPage();
  await page.goto(pages.host);
  await page.waitForFunction(() => 'createConnectorFrame' in globalThis);
  if (prepared) await page.evaluate(prepare, pages.options);
  const time = await page.evaluate(mount, pages.options);
  await context.close();
  return time;
}

async function compare(browser, pages, name, { movable, bound }) {
  const time = (prepared) => () => timeToInit(browser, pages, { prepared, movable });
  await time(true)();
  await time(false)();
  const { a, b, ratio } = await sideBySide(ROUNDS, time(true), time(false));
  const told = `${ratio.toFixed(2)} of an unprepared mount (${a.toFixed(1)} ms against ${b.toFixed(1)} ms)`;
  report(`from the call to init, loaded ahead, ${name}`, told, bound && `at most ${bound}`, bound && ratio <= bound);
}

export default async function preload() {
  const browser = await launch();
  try {
    const two = await openPages('127.0.0.1', CODE);
    await compare(browser, two, 'with moveBefore, two sites', { movable: true, bound: 0.2 });
    await compare(browser, two, 'without moveBefore, two sites', { movable: false, bound: 0.8 });
    await two.close();

    // A same-site frame runs in the page's process, so without `moveBefore` there is no process to
    // warm up. That figure is reported without a bound.
    const one = await openPages('localhost', CODE);
    await compare(browser, one, 'with moveBefore, one site', { movable: true, bound: 0.2 });
    await compare(browser, one, 'without moveBefore, one site', { movable: false });
    await one.close();
  } finally {
    await browser.close();
  }
}
