/**
 * The drop-in: core, element and Lit in one file, which the service serves to host pages. Loading it registers `<connector-frame>`; its default
 * addresses are those of the service it was loaded from. What it exports is for pages with a script of their own:
 * `const { createConnectorFrame } = await import('https://connect.example.com/v/0/connector-frame.js')`.
 */
import './drop-in-addresses.js';
import { createConnectorFrame as create } from '@connector-frame/core/connect';
import { preloadConnectorFrame as preload } from '@connector-frame/core/preload';
import { defaultAddresses } from './default-addresses.js';

export { ConnectorFrameElement } from './define.js';

/** As core's, with the default addresses of this file. */
export const createConnectorFrame: typeof create = (options) => create({ ...defaultAddresses(), ...options });

/** As core's, with the default addresses of this file. */
export const preloadConnectorFrame: typeof preload = (options) => preload({ ...defaultAddresses(), ...options });
