import type { ConnectorFrameOptions, SavedConnector } from '@connector-frame/core/connect';

// Runs in the page: the common interface of all adapters, so that one suite can drive them.

type Callback = 'onReady' | 'onSave' | 'onCancel' | 'onError';
type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;

/** The options that all adapters accept under the same names. */
export type Settings = Without<ConnectorFrameOptions, Callback | 'container'>;

/** New functions for every update, like inline functions in a framework. */
export interface Callbacks {
  onReady(): void;
  onSave(connector: SavedConnector): void;
  onCancel(): void;
  onError(error: { code: string; message: string }): void;
}

export interface Mounted {
  /** Renders again with these settings, which replace the previous ones. */
  update(settings: Settings, callbacks: Callbacks): void;
  unmount(): void;
}

/** Mounts a form in an element of the page. */
export type MountAdapter = (box: HTMLElement, settings: Settings, callbacks: Callbacks) => Mounted;

/**
 * A callback and its arguments: `['ready']`, `['save', connector]`, `['cancel']`,
 * `['error', code, message]`.
 */
export type CallbackCall = [callback: string, ...given: unknown[]];

/** For `page.evaluate`. A form is identified by the id of its box; tests can pass only data. */
export interface Contract {
  /** @param settings with `fetchSession: true`, sessions are fetched from the page's own server */
  mount(settings: object, box?: string): void;
  /** @param changes override the current settings; null removes one */
  update(changes?: object, box?: string): void;
  unmount(box?: string): void;
  /**
   * Returns the callbacks for a box. A call to a callback of an earlier render is recorded as
   * `['stale', ...]`.
   */
  callbacks(box?: string): CallbackCall[];
  /** Returns the iframes within a box, including those in shadow roots. */
  iframes(box?: string): HTMLIFrameElement[];
}

declare global {
  var contract: Contract;
}

/** Installs `globalThis.contract` for an adapter. */
export function installContract(mount: MountAdapter): void {
  const forms = new Map<string, { mounted: Mounted | undefined; settings: Settings; render: number }>();
  const calls = new Map<string, CallbackCall[]>();
  const callsOf = (box: string): CallbackCall[] => calls.get(box) ?? calls.set(box, []).get(box) ?? [];

  function callbacksOf(box: string): Callbacks {
    const render = forms.get(box)?.render;
    const record = (...what: CallbackCall): void => {
      callsOf(box).push(forms.get(box)?.render === render ? what : ['stale', ...what]);
    };
    return {
      onReady: () => record('ready'),
      onSave: (connector) => record('save', connector),
      onCancel: () => record('cancel'),
      onError: ({ code, message }) => record('error', code, message),
    };
  }

  function attempt(box: string, run: () => Mounted | void): Mounted | undefined {
    try {
      return run() ?? undefined;
    } catch (error) {
      // `createConnectorFrame` throws on invalid options; the other adapters report them in
      // `onError`.
      callsOf(box).push(['error', Object(error).code, Object(error).message]);
      return undefined;
    }
  }

  globalThis.contract = {
    mount(given, box = 'form') {
      const settings = settingsOf(given);
      const form = { mounted: undefined as Mounted | undefined, settings, render: 0 };
      forms.set(box, form);
      form.mounted = attempt(box, () => mount(elementOf(box), settings, callbacksOf(box)));
    },
    update(changes = {}, box = 'form') {
      const form = forms.get(box);
      if (!form) throw new Error(`nothing is mounted in ${box}`);
      form.render += 1;
      form.settings = settingsOf({ ...form.settings, ...changes });
      attempt(box, () => form.mounted?.update(form.settings, callbacksOf(box)));
    },
    unmount(box = 'form') {
      forms.get(box)?.mounted?.unmount();
    },
    callbacks: (box = 'form') => callsOf(box),
    iframes: (box = 'form') => iframesIn(elementOf(box)),
  };
}

function elementOf(box: string): HTMLElement {
  const element = document.getElementById(box);
  if (!element) throw new Error(`no element ${box}`);
  return element;
}

function iframesIn(root: ParentNode): HTMLIFrameElement[] {
  return [...root.querySelectorAll('*')].flatMap((element) => [
    ...(element instanceof HTMLIFrameElement ? [element] : []),
    ...(element.shadowRoot ? iframesIn(element.shadowRoot) : []),
  ]);
}

/** Returns the test's settings unchecked: some tests pass invalid ones on purpose. */
function settingsOf(given: object): Settings {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const settings: Settings = JSON.parse(JSON.stringify(present));
  return 'fetchSession' in present ? { ...settings, fetchSession: fetchPageSession } : settings;
}

async function fetchPageSession(): Promise<{ sessionToken: string; organizationId: string }> {
  const response = await fetch('/session', { method: 'POST' });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.json();
}
