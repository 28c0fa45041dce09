/**
 * Default addresses, in this one place: those of `npm start`. The package's build writes others into `dist/addresses.js`:
 *
 *     CONNECTOR_FRAME_EMBED_URL=https://embed.example.com CONNECTOR_FRAME_BASE_URL=https://api.example.com npm run build
 *
 * Whoever bundles these sources gets the addresses below and gives others as the options `frameOrigin` and `apiBase`.
 * They are plain constants so that a default costs a page no byte but its own.
 */

/** Address of the form, with its path: the default of `frameOrigin`. */
export const EMBED_URL: string = 'http://localhost:4000/embed';

/** Base address of the API: the default of `apiBase`. */
export const BASE_URL: string = 'http://localhost:4000';
