import { EMBED_URL } from './addresses.js';
import { frameIn, setFrameIn, TRUSTED } from './frame-element.js';
import { isFrameMessage } from './protocol/is-frame-message.js';
import type { ReadyMessage } from './protocol/messages.js';

/** A frame whose page was loaded ahead. */
interface Warm {
  iframe: HTMLIFrameElement;
  /** As it is to look once mounted. */
  style: string;
  /** What it said when it began to listen. */
  ready?: ReadyMessage;
  /** What the address led to is there, or is forbidden: a form would have said that it listens. */
  loaded?: true;
  /** Mounted beside it, as this one could not move; it goes once that one is shown. */
  next?: HTMLIFrameElement;
  /** How many asked for it and have not changed their mind. */
  users: number;
  /** Takes its listeners back. */
  ended: AbortController;
}

const pool = new Map<string, Warm>();

/** The way frames come without this module. */
const make = frameIn;

/**
 * Loads the form's page ahead, in a frame that nobody sees, hears or reaches by keyboard. The next `createConnectorFrame`
 * of that address takes it: where the browser has `moveBefore`, the frame itself; elsewhere what it left in the browser's
 * caches. Until then the form gets no `init` and no token. Asking twice for an address loads it once; one that does not
 * load, or is none, is forgotten without a word: mounting tells.
 *
 * @returns `destroy()` gives up a frame that was not taken, once all who asked for it have. Safe to call twice.
 */
export function preloadConnectorFrame(
  options: {
    /** Address of the form, as for `createConnectorFrame`. Default: the service this package was built for. */
    frameOrigin?: string | undefined;
  } = {},
): { destroy(): void } {
  const { frameOrigin = EMBED_URL } = options;
  let held: Warm | undefined;
  try {
    const src = new URL(frameOrigin.replace(/\/*$/, '/?parentOrigin=' + origin));
    // What mounting refuses; this very page would load itself without end.
    if (TRUSTED.test(src.origin) && src.origin !== origin) {
      held = living(src.href) ?? open(src);
      held.users += 1;
    }
  } catch {
    // No address.
  }
  setFrameIn(take);
  return {
    destroy() {
      if (held && !(held.users -= 1)) drop(held);
      held = undefined;
    },
  };
}

function open({ href, origin: target }: URL): Warm {
  const ended = new AbortController();
  const { signal } = ended;
  // Beside the body, whose content is the page's.
  const iframe = make(document.documentElement, href);
  const warm: Warm = { iframe, style: iframe.style.cssText, users: 0, ended };
  const end = () => (warm.loaded = true);
  // Rendered, though nobody sees it: one that is not displayed is slower to wake.
  iframe.style.cssText = 'position:fixed!important;visibility:hidden!important;width:0;height:0;border:0';
  iframe.addEventListener('load', end);
  // What a policy blocks may load later, as an empty page, or never.
  addEventListener('securitypolicyviolation', ({ blockedURI }) => blockedURI.startsWith(target) && end(), { signal });
  addEventListener(
    'message',
    ({ source, origin: sender, data }: MessageEvent<unknown>) => {
      if (sender !== target || !isFrameMessage(data)) return;
      if (data.type !== 'ready') {
        if (source === warm.next?.contentWindow) drop(warm);
      } else if (source === iframe.contentWindow) warm.ready = data;
    },
    { signal },
  );
  pool.set(href, warm);
  return warm;
}

/** Takes it out of the pool, and out of the page if it is still hidden there. */
function drop(warm: Warm): void {
  const { iframe, ended } = warm;
  ended.abort();
  if (pool.get(iframe.src) !== warm) return;
  pool.delete(iframe.src);
  iframe.remove();
}

/** The warm frame of an address; one that failed, or that the page threw away, is dropped. */
function living(src: string): Warm | undefined {
  const warm = pool.get(src);
  if (warm && (!warm.iframe.contentWindow || (warm.loaded && !warm.ready))) drop(warm);
  return pool.get(src);
}

/** The iframe of a form that is mounted in `parent`. */
function take(parent: HTMLElement, src: URL | string): HTMLIFrameElement {
  const warm = living(String(src));
  if (!warm) return make(parent, src);
  const { iframe, ready, style } = warm;
  try {
    parent.moveBefore(iframe, null);
  } catch {
    // The browser has no such thing; or `parent` is in another document, or in none.
    return (warm.next = make(parent, src));
  }
  pool.delete(iframe.src);
  drop(warm);
  iframe.style.cssText = style;
  // Once the caller listens, it hears what was said before.
  queueMicrotask(() => {
    const source = iframe.contentWindow;
    if (!ready || !source) return;
    const event = new MessageEvent('message', { origin: new URL(src).origin, data: ready });
    // Firefox takes no window of another process in the constructor.
    dispatchEvent(Object.defineProperty(event, 'source', { value: source }));
  });
  return iframe;
}
