import { bundle } from './bundle.js';
import { eventually } from './engines/eventually.js';
import type { HostPage } from './open-host.js';
import { serve, type Route } from './serve.js';

/**
 * A callback of the page and its arguments: `['save', { id: 'con_1' }]`,
 * `['error', code, message]`.
 */
export type CallbackCall = [callback: string, ...given: unknown[]];

/** A host page with only `createConnectorFrame`, for tests of core alone. */
export interface CoreHost {
  origin: string;
  /** Opens the page in a new tab, in any engine. */
  open<P extends HostPage>(from: { newPage(): Promise<P> }): Promise<P>;
  close(): Promise<void>;
}

export interface CoreHostOptions {
  headers?: Record<string, string>;
  /** HTML added to the body. */
  body?: string;
  /** HTML added to the head. */
  head?: string;
  /** Default: `localhost`, as for fake forms; `127.0.0.1` is another site. */
  hostname?: 'localhost' | '127.0.0.1';
}

const script = `
  import { createConnectorFrame } from '@connector-frame/core/connect';
  import { preloadConnectorFrame } from '@connector-frame/core/preload';
  import { sendToFrame } from '@connector-frame/core/protocol';

  const callbacks = [];
  const frames = [];
  addEventListener('error', ({ message }) => callbacks.push(['uncaught', message]));

  /** Mounts a frame whose callbacks write down what they get. \`sessions\`: what fetchSession answers, one after another. */
  function mount({ sessions, ...options }) {
    const calls = sessions?.[Symbol.iterator]();
    const frame = createConnectorFrame({
      container: '#box',
      kind: 'input',
      typeId: 'okta-systemlog',
      frameOrigin: 'https://connect.test/embed',
      apiBase: 'https://connect.test',
      ...(sessions
        ? {
            fetchSession: async () => {
              callbacks.push(['fetchSession']);
              const { value } = calls.next();
              if (value?.error) throw new Error(value.error);
              if (value?.never) return new Promise(() => {});
              if (value?.gate) await new Promise((open) => (coreHost.openGate = open));
              return value;
            },
          }
        : { sessionToken: 'token-1', organizationId: 'org_1' }),
      onReady: () => callbacks.push(['ready']),
      onSave: (connector) => callbacks.push(['save', connector]),
      onCancel: (...given) => callbacks.push(['cancel', ...given]),
      onError: (message, error) => callbacks.push(['error', error.code, message, error.name, error.message === message]),
      ...options,
    });
    frames.push(frame);
    return frame;
  }

  /** What a call throws, as data. */
  function thrown(run) {
    try {
      run();
      return null;
    } catch ({ name, code, message }) {
      return { name, code, message };
    }
  }

  globalThis.coreHost = { createConnectorFrame, preloadConnectorFrame, sendToFrame, callbacks, frames, mount, thrown };
`;

declare global {
  /** In the page; for `page.evaluate`. */
  var coreHost: {
    createConnectorFrame: (options: object) => { destroy(): void };
    preloadConnectorFrame: (options?: object) => { destroy(): void };
    sendToFrame: (iframe: HTMLIFrameElement, message: object) => void;
    callbacks: CallbackCall[];
    frames: { destroy(): void }[];
    mount: (options: object) => { destroy(): void };
    thrown: (run: () => unknown) => { name: string; code: string; message: string } | null;
    /** Releases a session with `gate`. Defined once that session has been requested. */
    openGate?: () => void;
  };
}

/** Serves a host page on its own origin. */
export async function serveCoreHost({
  headers = {},
  body = '',
  head = '',
  hostname = 'localhost',
}: CoreHostOptions = {}): Promise<CoreHost> {
  const code = await bundle(script);
  const routes: Record<string, Route> = {
    '/': {
      headers,
      body: `<!doctype html><html lang="en"><head><title>Host</title>${head}<script type="module" src="/host.js"></script></head><body><div id="box"></div>${body}</body></html>`,
    },
    // CORS, because a page with an opaque origin loads this too.
    '/host.js': { headers: { 'content-type': 'text/javascript', 'access-control-allow-origin': '*' }, body: code },
  };
  const site = await serve(routes, hostname);
  return {
    origin: site.origin,
    close: () => site.close(),
    async open(from) {
      const page = await from.newPage();
      await page.goto(site.origin);
      await eventually('the script of the page', () => page.evaluate(() => 'coreHost' in globalThis || undefined));
      return page;
    },
  };
}

/** Mounts a frame. Options must be JSON-serializable; see `mount` above for `sessions`. */
export async function mountCore(page: HostPage, options: Record<string, unknown>): Promise<void> {
  await page.evaluate((options) => void coreHost.mount(options), options);
}

/** Returns the callbacks called so far, in order. */
export function callbacksOf(page: HostPage): Promise<CallbackCall[]> {
  return page.evaluate(() => coreHost.callbacks);
}
