import { z } from '@hono/zod-openapi';
import { isCurrent, textTag } from '../http/etag.js';
import { notFound } from '../api-error.js';
import { publicRoute, type Route } from '../http/route.js';
import type { RouteContext } from './context.js';
import { TypeId } from './schemas.js';

const headers = {
  'Content-Type': 'image/svg+xml; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': 'public, max-age=604800, immutable',
};

/** Public routes for vendor icons. Ids are looked up in the catalog, never in the file system. */
export function iconRoutes({ catalog }: Pick<RouteContext, 'catalog'>): Route[] {
  return [
    publicRoute(
      {
        method: 'get',
        path: '/external/icons/raw/{typeId}',
        tag: 'Icons',
        operation: 'readIcon',
        summary: 'The icon of a connector type',
        description: 'For the `src` of an image on any page.',
        params: z.object({
          typeId: z
            .string()
            .openapi({ description: 'ID of the type, with or without `.svg`.', example: 'okta-systemlog.svg' }),
        }),
        etag: true,
        response: {
          status: 200,
          description: 'The icon.',
          schema: z.string(),
          contentType: 'image/svg+xml',
          example: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">...</svg>',
          headers: { 'Cache-Control': 'Seven days.' },
        },
        errorStatuses: { 404: { description: 'The type has no icon, or does not exist.', text: 'not found' } },
      },
      ({ c, params }) => {
        const typeId = TypeId.safeParse(params.typeId.replace(/\.svg$/, ''));
        const svg = typeId.success ? catalog.icon(typeId.data) : undefined;
        if (svg === undefined) {
          const plain = { ...headers, 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };
          return new Response('not found', { status: 404, headers: plain });
        }
        const ETag = textTag(svg);
        return isCurrent(c.req.header('if-none-match'), ETag)
          ? new Response(null, { status: 304, headers: { ...headers, ETag } })
          : new Response(svg, { headers: { ...headers, ETag } });
      },
    ),

    publicRoute(
      {
        method: 'get',
        path: '/external/icons/{typeId}',
        tag: 'Icons',
        operation: 'readIconName',
        summary: 'Icon of each connector type',
        description: 'The name and the file of the icon of a type. Several types of one vendor have the same icon.',
        params: z.object({ typeId: TypeId }),
        response: {
          status: 200,
          description: 'Types of one vendor share an icon.',
          schema: z.object({ typeId: z.string(), iconName: z.string(), fileName: z.string() }).openapi('IconName'),
        },
      },
      ({ params: { typeId } }) => {
        const iconName = catalog.iconName(typeId);
        if (iconName === undefined) throw notFound();
        const anyone = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };
        return { status: 200, body: { typeId, iconName, fileName: `${iconName}.svg` }, headers: anyone };
      },
    ),
  ];
}
