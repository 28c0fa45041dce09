import { createConnectorFrame } from '@connector-frame/core/connect';
import { PROTOCOL_SOURCE, sendToFrame } from '@connector-frame/core/protocol';
import { installContract, type Callbacks, type Settings } from './adapter.js';

/** Identity of the mounted form. Any other change leaves the frame alone. */
const identity = ({ kind, typeId, organizationId, existingId, frameOrigin, apiBase }: Settings): string =>
  JSON.stringify([kind, typeId, organizationId, existingId, frameOrigin, apiBase]);

// `createConnectorFrame` mounts once. When settings change, the page decides what to do, as here.
installContract((box, first, callbacks) => {
  let settings = first;
  let current = callbacks;
  const create = () =>
    createConnectorFrame({
      ...settings,
      container: box,
      onReady: () => current.onReady(),
      onSave: (connector) => current.onSave(connector),
      onCancel: () => current.onCancel(),
      onError: (_message, error) => current.onError(error),
    });
  let frame = create();
  return {
    update(next: Settings, nextCallbacks: Callbacks) {
      const before = settings;
      settings = next;
      current = nextCallbacks;
      const iframe = box.querySelector('iframe');
      if (identity(before) !== identity(next)) {
        frame.destroy();
        frame = create();
      } else if (iframe && next.sessionToken !== undefined && next.sessionToken !== before.sessionToken) {
        sendToFrame(iframe, { source: PROTOCOL_SOURCE, type: 'session', sessionToken: next.sessionToken });
      }
    },
    unmount: () => frame.destroy(),
  };
});
