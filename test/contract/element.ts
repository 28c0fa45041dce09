import '@connector-frame/element/define';
import { serveWay, type Callbacks, type Settings } from './way.js';

// Properties are set before the element is connected, as a page's script does.
serveWay((box, first, callbacks) => {
  const element = document.createElement('connector-frame');
  let settings: Settings = {} as Settings;
  let now = callbacks;
  element.addEventListener('ready', () => now.onReady());
  element.addEventListener('save', (event) => now.onSave(event.connector));
  element.addEventListener('cancel', () => now.onCancel());
  element.addEventListener('error', (event) => now.onError(event.error));
  const apply = (next: Settings): void => {
    const gone = Object.keys(settings).filter((name) => !(name in next));
    Object.assign(element, Object.fromEntries(gone.map((name) => [name, undefined])), next);
    settings = next;
  };
  apply(first);
  box.append(element);
  return {
    update(next: Settings, fresh: Callbacks) {
      now = fresh;
      apply(next);
    },
    unmount: () => element.remove(),
  };
});
