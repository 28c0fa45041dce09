import '@connector-frame/element/define';
import { installContract, type Callbacks, type Settings } from './adapter.js';

// Properties are set before the element is connected, as a page's script does.
installContract((box, first, callbacks) => {
  const element = document.createElement('connector-frame');
  let settings: Settings = {} as Settings;
  let current = callbacks;
  element.addEventListener('ready', () => current.onReady());
  element.addEventListener('save', (event) => current.onSave(event.connector));
  element.addEventListener('cancel', () => current.onCancel());
  element.addEventListener('error', (event) => current.onError(event.error));
  const apply = (next: Settings): void => {
    const removed = Object.keys(settings).filter((name) => !(name in next));
    Object.assign(element, Object.fromEntries(removed.map((name) => [name, undefined])), next);
    settings = next;
  };
  apply(first);
  box.append(element);
  return {
    update(next: Settings, nextCallbacks: Callbacks) {
      current = nextCallbacks;
      apply(next);
    },
    unmount: () => element.remove(),
  };
});
