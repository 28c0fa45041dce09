/** `@connector-frame/core/preload`: loads the form's page ahead of its use. */
export { preloadConnectorFrame } from './preload-connector-frame.js';
