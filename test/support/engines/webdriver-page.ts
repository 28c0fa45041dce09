import sharp from 'sharp';
import type { DrivenElement, DrivenFrame, DrivenKeyboard, DrivenPage } from './driven.js';
import { keyCode } from './keys.js';
import { isElement, type ElementReference, type WebDriverSession } from './webdriver-session.js';

type Path = readonly ElementReference[];

/** Creates a page over WebDriver, with the methods that Playwright and Puppeteer have. */
export function webDriverPage(session: WebDriverSession, close: () => Promise<void>): DrivenPage {
  const keyActions = (actions: object[]): Promise<void> =>
    // The current frame does not matter: keys go to the focused element.
    session.within(undefined, async (send) => {
      await send('POST', '/actions', { actions: [{ type: 'key', id: 'keyboard', actions }] });
    });
  const down = (key: string) => ({ type: 'keyDown', value: keyCode(key) });
  const up = (key: string) => ({ type: 'keyUp', value: keyCode(key) });
  const keyboard: DrivenKeyboard = {
    type: (text) => keyActions(Array.from(text).flatMap((character) => [down(character), up(character)])),
    press: (key) => keyActions([down(key), up(key)]),
    down: (key) => keyActions([down(key)]),
    up: (key) => keyActions([up(key)]),
  };
  const top = contextOf(session, []);
  return {
    ...top,
    keyboard,
    goto: (url) => session.within([], (send) => send('POST', '/url', { url })),
    focus: (selector) => top.evaluate((css) => document.querySelector<HTMLElement>(css)?.focus(), selector),
    title: () => top.evaluate(() => document.title),
    async screenshot({ clip: { x, y, width, height } }) {
      const png = await session.within([], (send) => send('GET', '/screenshot'));
      const region = { left: Math.round(x), top: Math.round(y), width, height };
      return sharp(Buffer.from(String(png), 'base64'))
        .extract(region)
        .png()
        .toBuffer();
    },
    close,
  };
}

function contextOf(session: WebDriverSession, path: Path): DrivenFrame {
  return {
    evaluate: (run, given) => execute(session, path, `(${String(run)})(...arguments)`, given),
    async evaluateHandle(run, given) {
      const value = await executeRaw(session, path, `(${String(run)})(...arguments)`, [given]);
      return { asElement: () => (isElement(value) ? elementOf(session, path, value) : null) };
    },
    url: () => execute(session, path, 'location.href'),
  };
}

// WebDriver can reference elements but no other values, so the page keeps those.
const kept = `(globalThis[Symbol.for('webdriver handles')] ??= [])`;

function elementOf(session: WebDriverSession, path: Path, reference: ElementReference): DrivenElement {
  return {
    evaluate: (run) => execute(session, path, `(${String(run)})(...arguments)`, reference),
    async evaluateHandle(run) {
      const index = await execute(session, path, `${kept}.push((${String(run)})(...arguments)) - 1`, reference);
      return { evaluate: (read) => execute(session, path, `(${String(read)})(${kept}[arguments[0]])`, index) };
    },
    reveal: () => reveal(session, path, reference),
    // The driver's own click command fails for an element in a shadow root: "element click
    // intercepted".
    async click() {
      await reveal(session, path, reference);
      await session.within(path, async (send) => {
        const actions = [
          { type: 'pointerMove', x: 0, y: 0, origin: reference },
          { type: 'pointerDown', button: 0 },
          { type: 'pointerUp', button: 0 },
        ];
        const pointer = { type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions };
        await send('POST', '/actions', { actions: [pointer] });
      });
    },
    async contentFrame() {
      const isFrame = await execute(session, path, `arguments[0].localName === 'iframe'`, reference);
      return isFrame ? contextOf(session, [...path, reference]) : null;
    },
  };
}

/**
 * Scrolls the pages above a frame, and the boxes in them, until the middle of an element is in
 * view. Other engines do so when an element gets focus; WebKit does not let a frame scroll a page
 * of another origin.
 */
async function reveal(session: WebDriverSession, path: Path, reference: ElementReference): Promise<void> {
  const middle = `(({ x, y, width, height }) => [x + width / 2, y + height / 2])(arguments[0].getBoundingClientRect())`;
  let point = await execute<[number, number]>(session, path, middle, reference);
  for (let depth = path.length - 1; depth >= 0; depth -= 1) {
    point = await execute(session, path.slice(0, depth), `(${String(scrollTo)})(...arguments)`, path[depth], point);
  }
}

/**
 * Runs in a page: scrolls until a point in an iframe is in view. Returns the point's new position.
 */
function scrollTo(iframe: HTMLIFrameElement, [x, y]: [number, number]): [number, number] {
  const place = (): [number, number] => {
    const { left, top } = iframe.getBoundingClientRect();
    return [left + iframe.clientLeft + x, top + iframe.clientTop + y];
  };
  const isRoot = (node: Node): boolean => node === document.documentElement || node === document.body;
  for (let node = iframe.parentNode; node; node = node instanceof ShadowRoot ? node.host : node.parentNode) {
    if (!(node instanceof Element) || isRoot(node)) continue;
    const box = node.getBoundingClientRect();
    const [left, top] = place();
    if (left < box.left || left > box.right) node.scrollLeft += left - (box.left + box.right) / 2;
    if (top < box.top || top > box.bottom) node.scrollTop += top - (box.top + box.bottom) / 2;
  }
  const [left, top] = place();
  if (left < 0 || left > innerWidth) scrollBy(left - innerWidth / 2, 0);
  if (top < 0 || top > innerHeight) scrollBy(0, top - innerHeight / 2);
  return place();
}

/**
 * Runs an expression in a frame and returns its value. Values pass through JSON, because WebDriver
 * turns `undefined` into `null`.
 */
async function execute<T>(session: WebDriverSession, path: Path, expression: string, ...args: unknown[]): Promise<T> {
  const json = await executeRaw(session, path, `(async () => JSON.stringify(await ${expression}))()`, args);
  return (typeof json === 'string' ? JSON.parse(json) : undefined) as T;
}

/** Runs an expression in a frame. Arguments and result may be element references. */
function executeRaw(session: WebDriverSession, path: Path, expression: string, args: unknown[]): Promise<unknown> {
  const body = { script: `return ${expression}`, args: args.filter((value) => value !== undefined) };
  return session.within(path, (send) => send('POST', '/execute/sync', body));
}
