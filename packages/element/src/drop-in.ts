/**
 * The drop-in script: core, element and Lit in one file, which the service serves to host pages. It
 * registers `<connector-frame>`, with the addresses of the service that it was loaded from as
 * defaults. Its exports are for pages with a script: `const { createConnectorFrame } = await
 * import('https://connect.example.com/v/0/connector-frame.js')`.
 */
import './drop-in-addresses.js';
import { createConnectorFrame as create } from '@connector-frame/core/connect';
import { preloadConnectorFrame as preload } from '@connector-frame/core/preload';
import { defaultAddresses } from './default-addresses.js';

export { ConnectorFrameElement } from './define.js';
export { registerMessages } from './messages/registry.js';

/** `createConnectorFrame` of core, with the default addresses of this file. */
export const createConnectorFrame: typeof create = (options) => create({ ...defaultAddresses(), ...options });

/** `preloadConnectorFrame` of core, with the default addresses of this file. */
export const preloadConnectorFrame: typeof preload = (options) => preload({ ...defaultAddresses(), ...options });
