import { createApp, h, shallowRef } from 'vue';
import { ConnectorFrame } from '@connector-frame/vue';
import { serveWay } from './way.js';

serveWay((box, settings, callbacks) => {
  const props = shallowRef({ ...settings, ...callbacks });
  const app = createApp({ render: () => h(ConnectorFrame, props.value) });
  app.mount(box);
  return {
    update(next, fresh) {
      props.value = { ...next, ...fresh };
    },
    unmount: () => app.unmount(),
  };
});
