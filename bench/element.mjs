import { launch, openPages } from './frame.mjs';
import { report, sideBySide } from './lib.mjs';

const ROUNDS = 15;
const MANY = 10;

/** One host page that loads both APIs, so the two measurements differ only in the call. */
const CODE = `
  import { createConnectorFrame } from '@connector-frame/core/connect';
  import '@connector-frame/element/define';
  globalThis.createConnectorFrame = createConnectorFrame;`;

/** Returns the milliseconds until `count` forms are shown, each in its own container. */
async function timeToReady(browser, pages, mount, count) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(pages.host);
  await page.waitForFunction(() => 'createConnectorFrame' in globalThis);
  const spent = await page.evaluate(mount, { options: pages.options, count });
  await context.close();
  return spent;
}

async function mountFunctions({ options, count }) {
  const started = performance.now();
  const shown = Array.from({ length: count }, () => {
    const container = document.createElement('div');
    document.body.append(container);
    return new Promise((onReady) => {
      globalThis.createConnectorFrame({ ...options, container, onReady });
    });
  });
  await Promise.all(shown);
  return performance.now() - started;
}

async function mountElements({ options, count }) {
  const settings = { ...options, container: undefined };
  const started = performance.now();
  const shown = Array.from({ length: count }, () => {
    const element = Object.assign(document.createElement('connector-frame'), settings);
    document.body.append(element);
    return new Promise((resolve) => {
      element.addEventListener('ready', resolve);
    });
  });
  await Promise.all(shown);
  return performance.now() - started;
}

export default async function element() {
  const [pages, browser] = await Promise.all([openPages('localhost', CODE), launch()]);
  try {
    for (const count of [1, MANY]) {
      const time = (mount) => () => timeToReady(browser, pages, mount, count);
      await time(mountElements)();
      const { a, b, ratio } = await sideBySide(ROUNDS, time(mountElements), time(mountFunctions));
      const told = `${ratio.toFixed(2)} times the bare function (${a.toFixed(0)} ms against ${b.toFixed(0)} ms)`;
      report(`from <connector-frame> to the shown form, ${count === 1 ? 'one' : count} on the page`, told);
    }
  } finally {
    await browser.close();
    await pages.close();
  }
}
