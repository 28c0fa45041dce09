import { preloadConnectorFrame } from '@connector-frame/core/preload';
import type { ReactiveController, ReactiveElement } from '@lit/reactive-element';
import { defaultAddresses } from './default-addresses.js';
import type { ElementOptions, Preload } from './element-options.js';
import { fetchHostConfig } from './host-routes.js';

type Host = ReactiveElement & Pick<ElementOptions, 'hostUrl' | 'frameOrigin' | 'preload'>;

/** Events that announce the use of the element. Touch input causes `pointerover` too. */
const triggers = { hover: ['pointerover', 'focusin'], focus: ['focusin'], idle: [], none: [] };

/** Loads the form's page ahead of its use, while the element has no form. */
export class PreloadController implements ReactiveController {
  #armed: Preload = 'none';
  #cancelIdle: (() => void) | undefined;
  #preloaded: { destroy(): void } | undefined;
  readonly #host: Host;
  readonly #isWaiting: () => boolean;

  /** @param isWaiting whether the element has no form */
  constructor(host: Host, isWaiting: () => boolean) {
    this.#host = host;
    this.#isWaiting = isWaiting;
    host.addController(this);
  }

  hostUpdated(): void {
    this.sync();
  }

  hostDisconnected(): void {
    this.#arm('none');
    this.#preloaded?.destroy();
    this.#preloaded = undefined;
  }

  /** Waits for a trigger if the element has no form; stops waiting otherwise. */
  sync(): void {
    const isWaiting = this.#isWaiting();
    // The mounted form has taken the preloaded frame.
    if (!isWaiting) this.#preloaded = undefined;
    this.#arm(isWaiting && !this.#preloaded && this.#host.isConnected ? this.#host.preload : 'none');
  }

  #arm(preload: Preload): void {
    if (preload === this.#armed) return;
    for (const type of triggers[this.#armed]) document.removeEventListener(type, this.#handleTrigger);
    this.#cancelIdle?.();
    this.#armed = preload;
    for (const type of triggers[preload]) document.addEventListener(type, this.#handleTrigger, { passive: true });
    if (preload === 'idle') this.#cancelIdle = whenIdle(() => void this.#load());
  }

  readonly #handleTrigger = (event: Event): void => {
    const isRelevant = (node: EventTarget): boolean =>
      node === this.#host || (node instanceof Element && this.#controlsHost(node));
    if (event.composedPath().some(isRelevant)) void this.#load();
  };

  /** Whether an element, such as a button, refers to the host or to an element around it. */
  #controlsHost(element: Element): boolean {
    const id = ['commandfor', 'popovertarget', 'aria-controls'].map((name) => element.getAttribute(name)).find(Boolean);
    const root = element.getRootNode();
    const target = id && (root instanceof Document || root instanceof ShadowRoot) && root.getElementById(id);
    return Boolean(target && target.contains(this.#host));
  }

  async #load(): Promise<void> {
    const { hostUrl, frameOrigin } = this.#host;
    this.#arm('none');
    try {
      const config = hostUrl && !frameOrigin ? await fetchHostConfig(hostUrl) : undefined;
      if (!this.#host.isConnected || !this.#isWaiting() || this.#preloaded) return;
      const address = frameOrigin || config?.frameOrigin || defaultAddresses().frameOrigin;
      this.#preloaded = preloadConnectorFrame(address ? { frameOrigin: address } : {});
    } catch {
      // Mounting reports the failure.
    }
  }
}

/** Milliseconds after which a page that is never idle preloads too. */
const IDLE_TIMEOUT_MS = 2_000;

/**
 * Calls `callback` when the page is idle, after two seconds at the latest, or after 500 ms in
 * browsers without `requestIdleCallback`.
 *
 * @returns a function that cancels the call
 */
function whenIdle(callback: () => void): () => void {
  if ('requestIdleCallback' in globalThis) {
    const id = requestIdleCallback(callback, { timeout: IDLE_TIMEOUT_MS });
    return () => cancelIdleCallback(id);
  }
  const id = setTimeout(callback, 500);
  return () => clearTimeout(id);
}
