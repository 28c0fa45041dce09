import type { Plugin } from 'vue';
import { ConnectorFrame } from './connector-frame.js';
import type { ConnectorFrameProps } from './connector-frame-props.js';
import { defaultsKey } from './defaults-key.js';

/**
 * Creates a plugin that registers `<ConnectorFrame>` globally, with defaults for its props.
 *
 * @param defaults values of absent props; can be `reactive`
 * @example
 * ```ts
 * createApp(App).use(createConnectorFrames({ hostUrl: '/api', tenantId: 'acme' })).mount('#app');
 * ```
 */
export function createConnectorFrames(defaults: Partial<ConnectorFrameProps> = {}): Plugin {
  return {
    install(app) {
      app.provide(defaultsKey, defaults).component('ConnectorFrame', ConnectorFrame);
    },
  };
}
