import { launch, openPages } from './frame.mjs';
import { report } from './lib.mjs';

const MOUNTS = 1_000;
const HEAP_GROWTH = 300_000;

/** Counts what the page keeps alive: listeners of window and document, and timers. */
function countEverything() {
  if (parent !== self) return;
  const live = (globalThis.live = { listeners: 0, timers: new Set() });
  for (const target of [window, document]) {
    const { addEventListener, removeEventListener } = target;
    const known = new WeakSet();
    target.addEventListener = function (type, listener, ...rest) {
      known.add(listener);
      live.listeners += 1;
      return addEventListener.call(this, type, listener, ...rest);
    };
    target.removeEventListener = function (type, listener, ...rest) {
      if (known.has(listener)) live.listeners -= 1;
      return removeEventListener.call(this, type, listener, ...rest);
    };
  }
  const { setTimeout, clearTimeout } = window;
  window.setTimeout = (run, ms, ...rest) => {
    const id = setTimeout(() => {
      live.timers.delete(id);
      run(...rest);
    }, ms);
    live.timers.add(id);
    return id;
  };
  window.clearTimeout = (id) => {
    live.timers.delete(id);
    clearTimeout(id);
  };
}

/**
 * Mounts and removes frames one after another. Every tenth frame becomes ready first; the others
 * are removed in the next animation frame. With `drop`, containers are removed without `destroy()`.
 */
async function cycle({ options, times, drop }) {
  for (let index = 0; index < times; index += 1) {
    const container = document.createElement('div');
    document.body.append(container);
    await new Promise((resolve) => {
      const handle = globalThis.createConnectorFrame({
        ...options,
        container,
        onReady: () => done(),
        onError: () => done(),
      });
      let over = false;
      const done = () => {
        if (over) return;
        over = true;
        if (!drop) handle.destroy();
        container.remove();
        resolve();
      };
      if (index % 10 !== 0) requestAnimationFrame(done);
    });
  }
}

async function heap(session) {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

export default async function leaks() {
  const [pages, browser] = await Promise.all([openPages(), launch()]);
  try {
    for (const { name, drop } of [
      { name: 'mounts and destroys', drop: false },
      { name: 'containers dropped without destroy()', drop: true },
    ]) {
      const page = await browser.newPage();
      await page.addInitScript(countEverything);
      await page.goto(pages.host);
      await page.waitForFunction(() => 'createConnectorFrame' in globalThis);
      const session = await page.context().newCDPSession(page);
      const before = await page.evaluate(() => globalThis.live.listeners);
      await page.evaluate(cycle, { options: pages.options, times: MOUNTS / 10, drop });
      const warm = await heap(session);
      await page.evaluate(cycle, { options: pages.options, times: MOUNTS - MOUNTS / 10, drop });
      const after = await page.evaluate(() => ({
        listeners: globalThis.live.listeners,
        timers: globalThis.live.timers.size,
        frames: frames.length,
      }));
      const grown = (await heap(session)) - warm;
      const left = after.listeners - before + after.timers + after.frames;
      report(`${MOUNTS} ${name}: listeners, timers and frames left`, left, 'none', left === 0);
      report(
        `${MOUNTS} ${name}: heap`,
        `${(grown / 1024).toFixed(0)} KiB more than after the first hundred`,
        `at most ${HEAP_GROWTH / 1000} kB`,
        grown <= HEAP_GROWTH,
      );
      await page.close();
    }
  } finally {
    await browser.close();
    await pages.close();
  }
}
