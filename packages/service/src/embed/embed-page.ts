import { pack, type Asset, type FormAssets } from './form-assets.js';

/** The form's page, with the response headers for each parent origin. */
export interface EmbedPage {
  asset: Asset;
  headers(parent: string): Record<string, string>;
}

const fixedHeaders = {
  'Cross-Origin-Embedder-Policy': 'credentialless',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=()',
};

/**
 * Headers of the response to an unregistered origin: it cannot be framed, and nothing in it runs.
 */
export const refusedHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

const PLACEHOLDER = /<meta name="api-bases" content="[^"]*"\s*\/?>/;

/**
 * Fills the API base URLs into the form's page.
 * @param apiBases base URLs of the API that the form may call, besides the one that serves its page
 * @throws Error if the page has no placeholder for them
 */
export function createEmbedPage(assets: FormAssets, apiBases: readonly string[]): EmbedPage {
  if (!PLACEHOLDER.test(assets.html)) throw new Error('The form\'s page has no <meta name="api-bases" content="">.');
  const list = JSON.stringify(apiBases).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  const scripts = ["'self'", ...assets.scriptHashes].join(' ');
  const styles = ["'self'", ...assets.styleHashes].join(' ');
  const html = assets.html.replace(PLACEHOLDER, () => `<meta name="api-bases" content="${list}" />`);
  return {
    asset: pack(Buffer.from(html), 'text/html; charset=utf-8'),

    // The stylesheets of the host are not known yet, only that they must come from its own origin.
    headers: (parent) => ({
      ...fixedHeaders,
      'Content-Security-Policy': [
        "default-src 'none'",
        `script-src ${scripts}`,
        "connect-src 'self'",
        `style-src ${styles} ${parent}`,
        `font-src 'self' ${parent}`,
        "img-src 'self' data:",
        "frame-src 'none'",
        "worker-src 'none'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        `frame-ancestors ${parent}`,
        "require-trusted-types-for 'script'",
        'trusted-types lit-html',
        'sandbox allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox',
      ].join('; '),
    }),
  };
}
