import { createApp, h, shallowRef } from 'vue';
import { ConnectorFrame } from '@connector-frame/vue';
import { installContract } from './adapter.js';

installContract((box, settings, callbacks) => {
  const props = shallowRef({ ...settings, ...callbacks });
  const app = createApp({ render: () => h(ConnectorFrame, props.value) });
  app.mount(box);
  return {
    update(next, nextCallbacks) {
      props.value = { ...next, ...nextCallbacks };
    },
    unmount: () => app.unmount(),
  };
});
