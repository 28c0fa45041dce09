/** A host page in Vue, for `page.evaluate`. Bundled once with Vue 3.4 and once with the latest. */
import { createApp, createSSRApp, h, reactive, shallowRef, version, type App } from 'vue';
import { ConnectorFrame, createConnectorFrames, type ConnectorFrameProps } from '@connector-frame/vue';

/** Props as data. With `fetchSession: true`, the page calls the test's function. */
export type GivenProps = Record<string, unknown>;

declare global {
  var vuePage: {
    version: string;
    /** Emitted events, with the label of the render that created the listener. */
    events: [label: string, event: string, ...given: unknown[]][];
    mount(given: GivenProps, how?: { defaults?: GivenProps; slots?: boolean }): void;
    hydrate(given: GivenProps): void;
    update(given: GivenProps, label?: string): void;
    unmount(): void;
    /** Value of a template ref on the component. */
    ref: { value: InstanceType<typeof ConnectorFrame> | null };
  };
}

const events: typeof vuePage.events = [];
const ref = shallowRef<InstanceType<typeof ConnectorFrame> | null>(null);
const state = reactive<{ given: GivenProps; label: string }>({ given: {}, label: '' });

const View = {
  render() {
    const { given, label } = state;
    const { fetchSession: fetchesSession, ...data } = given;
    return h(
      ConnectorFrame,
      {
        ...(data as unknown as ConnectorFrameProps),
        ...(fetchesSession === true && { fetchSession: () => globalThis.fetchSession() }),
        ref,
        class: 'connect',
        onReady: (...none: unknown[]) => events.push([label, 'ready', ...none]),
        onSave: (connector) => events.push([label, 'save', connector]),
        onCancel: (...none: unknown[]) => events.push([label, 'cancel', ...none]),
        onError: (error) => events.push([label, 'error', error.code]),
      },
      {
        default: () => h('a', { href: '/connect' }, 'Connect by mail'),
        loading: () => 'One moment',
        error: () => h('p', 'That did not work'),
      },
    );
  },
};

/** Creates the application, for the server and for hydration in the browser. */
export function makeApp(given: GivenProps, label = ''): App {
  Object.assign(state, { given, label });
  return createSSRApp(View);
}

if ('document' in globalThis) {
  let app: App | undefined;
  globalThis.vuePage = {
    version,
    events,
    ref,
    mount(given, { defaults } = {}) {
      Object.assign(state, { given, label: '' });
      app = createApp(View);
      if (defaults) app.use(createConnectorFrames(defaults as Partial<ConnectorFrameProps>));
      app.mount('#root');
    },
    hydrate(given) {
      app = makeApp(given, 'hydrated');
      app.mount('#root');
    },
    update(given, label = '') {
      Object.assign(state, { given, label });
    },
    unmount() {
      app?.unmount();
    },
  };
}
