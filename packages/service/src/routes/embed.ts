import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { createEmbedPage, refusedHeaders } from '../embed/embed-page.js';
import type { Asset, FormAssets } from '../embed/form-assets.js';
import { isPageOrigin } from '../embed/origin.js';
import { notFound } from '../http/api-error.js';
import { publicRoute, type Route } from '../http/route.js';
import type { RouteContext } from './context.js';

const assetHeaders = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  Vary: 'Accept-Encoding',
};

/** The form: its page, framed by registered origins only, and the page's files. */
export function embedRoutes(
  { parentOrigins, gate }: RouteContext,
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
        summary: 'The form, for a frame on a registered page',
        query: z.object({ parentOrigin: z.string().optional().openapi({ example: 'https://app.example' }) }),
        answer: { status: 200, description: 'The page.', schema: z.string(), contentType: 'text/html' },
        refusals: [403],
      },
      async ({ c }) => {
        const url = new URL(c.req.url);
        // Without the slash the page's own files would be looked for one level up.
        if (!url.pathname.endsWith('/')) {
          return new Response(null, {
            status: 308,
            headers: { ...refusedHeaders, Location: `./embed/${url.search}` },
          });
        }
        const [parent, ...more] = url.searchParams.getAll('parentOrigin');
        if (parent === undefined || more.length > 0 || !isPageOrigin(parent)) return refuse();
        if (!(await parentOrigins.isAllowed(parent))) {
          // It cost a look-up, and anyone can ask.
          await gate.countStranger(c);
          return refuse();
        }
        return send(c, page.asset, page.headers(parent));
      },
    ),

    publicRoute(
      {
        method: 'get',
        path: '/embed/assets/{name}',
        tag,
        operation: 'readFormFile',
        summary: 'A file of the form',
        params: z.object({ name: z.string() }),
        answer: { status: 200, description: 'The file; its name changes with its content.' },
      },
      ({ c, params }) => {
        const asset = assets.files.get(params.name);
        if (!asset) throw notFound();
        return send(c, asset, assetHeaders);
      },
    ),
  ];
}

const refuse = (): Response =>
  new Response(
    'This form is not open to the page that asked for it. Register the origin of that page: ALLOWED_PARENT_ORIGINS, or allowed_origins of the organization.',
    { status: 403, headers: refusedHeaders },
  );

/** In the smallest form that the browser reads. */
function send(c: Context, asset: Asset, headers: Record<string, string>): Response {
  const { encoding, body } = choose(asset, c.req.header('accept-encoding') ?? '');
  return new Response(body, {
    headers: {
      ...headers,
      'Content-Type': asset.contentType,
      ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
    },
  });
}

function choose(asset: Asset, accepted: string): { encoding?: 'br' | 'gzip'; body: Asset['identity'] } {
  if (accepts(accepted, 'br')) return { encoding: 'br', body: asset.br };
  if (accepts(accepted, 'gzip')) return { encoding: 'gzip', body: asset.gzip };
  return { body: asset.identity };
}

function accepts(header: string, coding: string): boolean {
  return header.split(',').some((part) => {
    const [name, ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    return name === coding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
