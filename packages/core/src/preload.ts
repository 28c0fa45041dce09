/** `@connector-frame/core/preload`: the form's page, loaded ahead. An entry of its own, so that only pages that use it load it. */
export { preloadConnectorFrame } from './preload-connector-frame.js';
