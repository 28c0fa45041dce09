import type { ConnectorFrameOptions, SavedConnector } from '@connector-frame/core/connect';

// The page's side: what each way in is made into, so that one suite can drive them all.

type Callback = 'onReady' | 'onSave' | 'onCancel' | 'onError';
type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;

/** The options that all ways take under the same names. */
export type Settings = Without<ConnectorFrameOptions, Callback | 'container'>;

/** New functions with each update, as an inline function of a framework is. */
export interface Callbacks {
  onReady(): void;
  onSave(connector: SavedConnector): void;
  onCancel(): void;
  onError(error: { code: string; message: string }): void;
}

export interface Mounted {
  /** Renders again with these settings in the place of those before. */
  update(settings: Settings, callbacks: Callbacks): void;
  unmount(): void;
}

/** Puts a form into an element of the page. */
export type Way = (box: HTMLElement, settings: Settings, callbacks: Callbacks) => Mounted;

/** What the callbacks were given: `['ready']`, `['save', connector]`, `['cancel']`, `['error', code, message]`. */
export type Heard = [callback: string, ...given: unknown[]];

/** For `page.evaluate`. A form is named by the id of its box; data is all a test can give. */
export interface Contract {
  /** @param settings with `fetchSession: true`, the page's own server is asked for sessions */
  mount(settings: object, box?: string): void;
  /** @param changes over the settings so far; null takes one back */
  update(changes?: object, box?: string): void;
  unmount(box?: string): void;
  /** By box; a call to a function of an earlier rendering is `['stale', ...]`. */
  heard(box?: string): Heard[];
  /** The iframes within a box, in shadow roots too. */
  iframes(box?: string): HTMLIFrameElement[];
}

declare global {
  var contract: Contract;
}

/** Makes `globalThis.contract` of a way. */
export function serveWay(way: Way): void {
  const forms = new Map<string, { mounted: Mounted | undefined; settings: Settings; render: number }>();
  const said = new Map<string, Heard[]>();
  const heard = (box: string): Heard[] => said.get(box) ?? said.set(box, []).get(box) ?? [];

  function callbacks(box: string): Callbacks {
    const render = forms.get(box)?.render;
    const hear = (...what: Heard): void => {
      heard(box).push(forms.get(box)?.render === render ? what : ['stale', ...what]);
    };
    return {
      onReady: () => hear('ready'),
      onSave: (connector) => hear('save', connector),
      onCancel: () => hear('cancel'),
      onError: ({ code, message }) => hear('error', code, message),
    };
  }

  function attempt(box: string, run: () => Mounted | void): Mounted | undefined {
    try {
      return run() ?? undefined;
    } catch (error) {
      // The function throws what is wrong with its options; the others have no caller to throw at.
      heard(box).push(['error', Object(error).code, Object(error).message]);
      return undefined;
    }
  }

  globalThis.contract = {
    mount(given, box = 'form') {
      const settings = settingsOf(given);
      const form = { mounted: undefined as Mounted | undefined, settings, render: 0 };
      forms.set(box, form);
      form.mounted = attempt(box, () => way(elementOf(box), settings, callbacks(box)));
    },
    update(changes = {}, box = 'form') {
      const form = forms.get(box);
      if (!form) throw new Error(`nothing is mounted in ${box}`);
      form.render += 1;
      form.settings = settingsOf({ ...form.settings, ...changes });
      attempt(box, () => form.mounted?.update(form.settings, callbacks(box)));
    },
    unmount(box = 'form') {
      forms.get(box)?.mounted?.unmount();
    },
    heard: (box = 'form') => heard(box),
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

/** As a test gave them: they may be wrong on purpose, so no check stands here. */
function settingsOf(given: object): Settings {
  const kept = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const settings: Settings = JSON.parse(JSON.stringify(kept));
  return 'fetchSession' in kept ? { ...settings, fetchSession: askPage } : settings;
}

async function askPage(): Promise<{ sessionToken: string; organizationId: string }> {
  const response = await fetch('/session', { method: 'POST' });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.json();
}
