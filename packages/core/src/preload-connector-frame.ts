import { EMBED_URL } from './addresses.js';
import { createFrameElement, setCreateFrameElement } from './frame-element.js';
import { frameUrl } from './frame-url.js';
import { isFrameMessage } from './protocol/is-frame-message.js';
import type { ReadyMessage } from './protocol/messages.js';

/** A hidden frame with a preloaded page. */
interface PreloadedFrame {
  iframe: HTMLIFrameElement;
  /** Inline style that the frame has once it is mounted. */
  style: string;
  /** The form's `ready` message, once it has been received. */
  ready?: ReadyMessage;
  /** The document has loaded, or a policy blocked it. A form would have sent `ready` before. */
  isLoaded?: true;
  /**
   * The frame that was mounted because this one could not be moved. Removes this one once it is
   * ready.
   */
  replacement?: HTMLIFrameElement;
  /** Number of `preloadConnectorFrame` calls that have not been undone. */
  users: number;
  /** Removes the listeners. */
  listeners: AbortController;
}

/** Frames that have not been mounted, by URL. */
const pool = new Map<string, PreloadedFrame>();

/** Creates a frame without the pool. */
const createNewFrame = createFrameElement;

/**
 * Loads the form's page into a hidden frame that is not visible, not read by screen readers and not
 * reachable by keyboard. The next `createConnectorFrame` with the same address uses it: the frame
 * itself if the browser supports `moveBefore`, otherwise the browser's caches. Until then, the form
 * receives no `init` and no token.
 *
 * Two calls with the same address load one frame. A page that fails to load, or a missing or
 * invalid address, has no effect here: `createConnectorFrame` reports it.
 *
 * @param options.frameOrigin URL of the form, as for `createConnectorFrame`
 * @returns a handle whose `destroy()` removes the frame unless it has been mounted or another call
 *   uses it; can be called more than once
 * @example
 * ```ts
 * const frameOrigin = 'https://connect.example.com/embed';
 * button.addEventListener('pointerenter', () => preloadConnectorFrame({ frameOrigin }), { once: true });
 * ```
 */
export function preloadConnectorFrame(options: { frameOrigin?: string | undefined } = {}): { destroy(): void } {
  const url = frameUrl(options.frameOrigin ?? EMBED_URL);
  let frame = url && (findUsable(url.href) ?? open(url));
  if (frame) frame.users += 1;
  setCreateFrameElement(mountFrame);
  return {
    destroy() {
      if (frame && !(frame.users -= 1)) remove(frame);
      frame = undefined;
    },
  };
}

function open({ href, origin: target }: URL): PreloadedFrame {
  const listeners = new AbortController();
  const { signal } = listeners;
  // A child of <html>: the content of <body> belongs to the page.
  const iframe = createNewFrame(document.documentElement, href);
  const frame: PreloadedFrame = { iframe, style: iframe.style.cssText, users: 0, listeners };
  const setLoaded = () => (frame.isLoaded = true);
  // Rendered but invisible: with `display: none`, the form starts more slowly.
  iframe.style.cssText = 'position:fixed!important;visibility:hidden!important;width:0;height:0;border:0';
  iframe.addEventListener('load', setLoaded);
  // A blocked frame may load an empty page later, or never.
  addEventListener('securitypolicyviolation', ({ blockedURI }) => blockedURI.startsWith(target) && setLoaded(), {
    signal,
  });
  addEventListener(
    'message',
    ({ source, origin: sender, data }: MessageEvent<unknown>) => {
      if (sender !== target || !isFrameMessage(data)) return;
      if (data.type !== 'ready') {
        if (source === frame.replacement?.contentWindow) remove(frame);
      } else if (source === iframe.contentWindow) frame.ready = data;
    },
    { signal },
  );
  pool.set(href, frame);
  return frame;
}

/** Removes a frame from the pool, and from the page if it has not been mounted. */
function remove(frame: PreloadedFrame): void {
  const { iframe, listeners } = frame;
  listeners.abort();
  if (pool.get(iframe.src) !== frame) return;
  pool.delete(iframe.src);
  iframe.remove();
}

/** Returns the preloaded frame of a URL. Removes it if it failed, or if the page has removed it. */
function findUsable(href: string): PreloadedFrame | undefined {
  const frame = pool.get(href);
  if (frame && (!frame.iframe.contentWindow || (frame.isLoaded && !frame.ready))) remove(frame);
  return pool.get(href);
}

/** Replaces `createFrameElement`: moves the preloaded frame to `parent`. */
function mountFrame(parent: HTMLElement, url: URL | string): HTMLIFrameElement {
  const frame = findUsable(String(url));
  if (!frame) return createNewFrame(parent, url);
  const { iframe, ready, style } = frame;
  try {
    parent.moveBefore(iframe, null);
  } catch {
    // The browser has no `moveBefore`, or `parent` is in another document or in none.
    return (frame.replacement = createNewFrame(parent, url));
  }
  pool.delete(iframe.src);
  remove(frame);
  iframe.style.cssText = style;
  // Dispatches the stored `ready` again, after the caller has added its listener.
  queueMicrotask(() => {
    const source = iframe.contentWindow;
    if (!ready || !source) return;
    const event = new MessageEvent('message', { origin: new URL(url).origin, data: ready });
    // Firefox does not accept a window of another process in the constructor.
    dispatchEvent(Object.defineProperty(event, 'source', { value: source }));
  });
  return iframe;
}
