/**
 * Defaults of `frameOrigin` and `apiBase`. They are empty: a page that forgets these options gets
 * an error, and its token goes nowhere. A vendor that builds this package for its customers sets
 * them:
 *
 *     CONNECTOR_FRAME_EMBED_URL=https://connect.example.com/embed \
 *     CONNECTOR_FRAME_BASE_URL=https://connect.example.com npm run build
 *
 * `scripts/set-addresses.mjs` then writes them to `dist/addresses.js`.
 */

/** URL of the form, with its path. */
export const EMBED_URL: string = '';

/** Base URL of the API. */
export const BASE_URL: string = '';
