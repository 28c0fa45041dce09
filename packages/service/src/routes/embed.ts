import { z } from '@hono/zod-openapi';
import { createEmbedPage, refusedHeaders } from '../embed/embed-page.js';
import type { FormAssets } from '../embed/form-assets.js';
import { isPageOrigin } from '../embed/origin.js';
import { sendAsset } from '../embed/send-asset.js';
import { notFound } from '../api-error.js';
import { publicRoute, type Route } from '../http/route.js';
import type { RouteContext } from './context.js';

const assetHeaders = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  Vary: 'Accept-Encoding',
};

/** Routes for the form: its page, which only registered origins can frame, and the page's files. */
export function embedRoutes(
  { parentOrigins, accessControl }: RouteContext,
  assets: FormAssets,
  apiBases: readonly string[],
): Route[] {
  const page = createEmbedPage(assets, apiBases);
  const tag = 'Form';
  return [
    publicRoute(
      {
        method: 'get',
        path: '/embed/',
        tag,
        operation: 'readForm',
        summary: 'The form, for a frame in a page of a registered origin',
        description:
          '`createConnectorFrame` opens this page. Its policy lets only pages of `parentOrigin` embed it, which must be among ALLOWED_PARENT_ORIGINS or the `allowed_origins` of an organization. `/embed` redirects to `/embed/`.',
        query: z.object({
          parentOrigin: z
            .string()
            .optional()
            .openapi({ description: 'Origin of the embedding page. Required.', example: 'https://app.example' }),
        }),
        response: {
          status: 200,
          description: 'The page.',
          schema: z.string(),
          contentType: 'text/html',
          example: '<!doctype html>...',
          headers: { 'Content-Security-Policy': 'What the page may load, and which page may embed it.' },
        },
        errorStatuses: {
          403: {
            description: 'The origin is absent, not an origin, or not allowed.',
            text: NOT_ALLOWED,
          },
          429: 'Too many requests with other origins from this address. Retry after the number of seconds in `Retry-After`.',
          503: 'The database does not respond. Retry after the number of seconds in `Retry-After`.',
        },
      },
      async ({ c }) => {
        const url = new URL(c.req.url);
        // Without the trailing slash, the browser would resolve the page's relative URLs one level
        // up.
        if (!url.pathname.endsWith('/')) {
          return new Response(null, {
            status: 308,
            headers: { ...refusedHeaders, Location: `./embed/${url.search}` },
          });
        }
        const [parent, ...more] = url.searchParams.getAll('parentOrigin');
        if (parent === undefined || more.length > 0 || !isPageOrigin(parent)) return denyFraming();
        if (!(await parentOrigins.isAllowed(parent))) {
          // Anyone can cause this database lookup, so count it against the client address.
          await accessControl.countAnonymous(c);
          return denyFraming();
        }
        return sendAsset(c, page.asset, page.headers(parent));
      },
    ),

    publicRoute(
      {
        method: 'get',
        path: '/embed/assets/{name}',
        tag,
        operation: 'readFormFile',
        summary: 'A file of the form',
        description:
          'The page of the form names these files. Their names contain a hash of their content, so that they can be kept for ever.',
        params: z.object({ name: z.string().openapi({ description: 'Name of the file.' }) }),
        response: {
          status: 200,
          description: 'The file.',
          schema: z.string(),
          contentType: ['text/javascript', 'text/css', 'image/svg+xml', 'application/json'],
          example: '...',
          headers: {
            'Cache-Control': 'A year.',
            'Content-Encoding': '`br` or `gzip` if `Accept-Encoding` allows it.',
          },
        },
      },
      ({ c, params }) => {
        const asset = assets.files.get(params.name);
        if (!asset) throw notFound();
        return sendAsset(c, asset, assetHeaders);
      },
    ),
  ];
}

const NOT_ALLOWED =
  'The origin of the embedding page is not allowed. Add it to ALLOWED_PARENT_ORIGINS or to allowed_origins of the organization.';

const denyFraming = (): Response => new Response(NOT_ALLOWED, { status: 403, headers: refusedHeaders });
