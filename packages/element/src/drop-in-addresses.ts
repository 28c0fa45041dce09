import { setDefaultAddresses } from './default-addresses.js';

// A service serves this file as <its address>/v/<version>/connector-frame.js. From anywhere else the address says nothing about a service.
const [, base] = /^(https?:\/\/.+)\/v\/[^/]+\/connector-frame\.js(?:[?#]|$)/.exec(import.meta.url) ?? [];
if (base !== undefined) setDefaultAddresses({ frameOrigin: `${base}/embed`, apiBase: base });
