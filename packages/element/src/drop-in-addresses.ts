import { setDefaultAddresses } from './default-addresses.js';

// A service serves this file as <base URL>/v/<version>/connector-frame.js. Any other URL says
// nothing about the service.
const [, base] = /^(https?:\/\/.+)\/v\/[^/]+\/connector-frame\.js(?:[?#]|$)/.exec(import.meta.url) ?? [];
if (base !== undefined) setDefaultAddresses({ frameOrigin: `${base}/embed`, apiBase: base });
