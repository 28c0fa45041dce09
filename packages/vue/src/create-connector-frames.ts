import type { Plugin } from 'vue';
import { ConnectorFrame } from './connector-frame.js';
import type { ConnectorFrameProps } from './connector-frame-props.js';
import { defaultsKey } from './defaults-key.js';

/**
 * A plugin: registers `<ConnectorFrame>` for every template, with defaults for its props.
 * @param defaults used where a prop is absent; may be `reactive`
 */
export function createConnectorFrames(defaults: Partial<ConnectorFrameProps> = {}): Plugin {
  return {
    install(app) {
      app.provide(defaultsKey, defaults).component('ConnectorFrame', ConnectorFrame);
    },
  };
}
