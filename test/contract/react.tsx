import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ConnectorFrame } from '@connector-frame/react';
import { installContract, type Callbacks, type Settings } from './adapter.js';

// For React 18 and 19; the bundle's alias decides which.
installContract((box, settings, callbacks) => {
  const root = createRoot(box);
  const render = (settings: Settings, { onReady, onSave, onCancel, onError }: Callbacks): void =>
    root.render(
      <StrictMode>
        <ConnectorFrame {...settings} onReady={onReady} onSave={onSave} onCancel={onCancel} onError={onError} />
      </StrictMode>,
    );
  render(settings, callbacks);
  return { update: render, unmount: () => root.unmount() };
});
