import { preloadConnectorFrame } from '@connector-frame/core/preload';
import type { ReactiveController, ReactiveElement } from '@lit/reactive-element';
import type { Preload } from './converters.js';
import { defaultAddresses } from './default-addresses.js';
import type { FrameSettings } from './frame-settings.js';
import { fetchHostConfig } from './host-routes.js';

type Host = ReactiveElement & Pick<FrameSettings, 'hostUrl' | 'frameOrigin'> & { preload: Preload };

/** What tells that the person is about to use the element. Touch comes with a `pointerover` too. */
const signals = { hover: ['pointerover', 'focusin'], focus: ['focusin'], idle: [], none: [] };

/** Loads the form's page ahead, while the element has no form to show. */
export class PreloadController implements ReactiveController {
  #armed: Preload = 'none';
  #cancelIdle: (() => void) | undefined;
  #warm: { destroy(): void } | undefined;
  readonly #host: Host;
  readonly #isWaiting: () => boolean;

  constructor(host: Host, isWaiting: () => boolean) {
    this.#host = host;
    this.#isWaiting = isWaiting;
  }

  hostUpdated(): void {
    const isWaiting = this.#isWaiting();
    // What is mounted has taken the frame along.
    if (!isWaiting) this.#warm = undefined;
    this.#arm(isWaiting && !this.#warm && this.#host.isConnected ? this.#host.preload : 'none');
  }

  hostDisconnected(): void {
    this.#arm('none');
    this.#warm?.destroy();
    this.#warm = undefined;
  }

  #arm(preload: Preload): void {
    if (preload === this.#armed) return;
    for (const type of signals[this.#armed]) document.removeEventListener(type, this.#notice);
    this.#cancelIdle?.();
    this.#armed = preload;
    for (const type of signals[preload]) document.addEventListener(type, this.#notice, { passive: true });
    if (preload === 'idle') this.#cancelIdle = whenIdle(() => void this.#load());
  }

  readonly #notice = (event: Event): void => {
    const isOurs = (node: EventTarget): boolean =>
      node === this.#host || (node instanceof Element && this.#opens(node));
    if (event.composedPath().some(isOurs)) void this.#load();
  };

  /** Whether `button` says that it leads to the element, or to what the element stands in. */
  #opens(button: Element): boolean {
    const id = ['commandfor', 'popovertarget', 'aria-controls'].map((name) => button.getAttribute(name)).find(Boolean);
    const root = button.getRootNode();
    const target = id && (root instanceof Document || root instanceof ShadowRoot) && root.getElementById(id);
    return Boolean(target && target.contains(this.#host));
  }

  async #load(): Promise<void> {
    const { hostUrl, frameOrigin } = this.#host;
    this.#arm('none');
    try {
      const config = hostUrl && !frameOrigin ? await fetchHostConfig(hostUrl) : undefined;
      if (!this.#host.isConnected || !this.#isWaiting() || this.#warm) return;
      const address = frameOrigin || config?.frameOrigin || defaultAddresses().frameOrigin;
      this.#warm = preloadConnectorFrame(address ? { frameOrigin: address } : {});
    } catch {
      // Being early has no right to fail: mounting tells what is wrong.
    }
  }
}

/** Calls when the page has nothing else to do, in browsers that tell; else soon. Answers how to call it off. */
function whenIdle(work: () => void): () => void {
  if ('requestIdleCallback' in globalThis) {
    const id = requestIdleCallback(work);
    return () => cancelIdleCallback(id);
  }
  const id = setTimeout(work, 500);
  return () => clearTimeout(id);
}
