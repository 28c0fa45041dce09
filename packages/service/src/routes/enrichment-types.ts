import { z } from '@hono/zod-openapi';
import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { notFound } from '../api-error.js';
import { organizationRoute, type Route } from '../http/route.js';
import { ConnectorTypeConfig } from './catalog.js';
import type { RouteContext } from './context.js';
import { Org, TypeId } from './schemas.js';

const EnrichmentMeta = z
  .object({
    type_id: z.string(),
    name: z.string(),
    description: z.string(),
    connector_category: z.string().openapi({ example: 'Universal' }),
    house: z.string().openapi({ description: 'The vendor.' }),
    in_beta: z.boolean(),
    internal: z.literal(false),
    supported_features: z.object({ test_connection: z.boolean() }).openapi('EnrichmentFeatures'),
    version: z.int().openapi({ description: 'Increased when configurations of the type must change.' }),
    config: ConnectorTypeConfig,
  })
  .openapi('EnrichmentMeta');

const tag = 'Enrichments';
const access = { permission: 'enrichment:read', session: 'deny' } as const;

/** Routes for the catalog of enrichments at the addresses of the public API. */
export function enrichmentTypeRoutes({ catalog, tests }: RouteContext): Route[] {
  const present = (type: ConnectorTypeData): z.output<typeof EnrichmentMeta> => ({
    type_id: type.type_id,
    name: type.name,
    description: type.description,
    connector_category: type.category,
    house: type.vendor,
    in_beta: type.in_beta ?? false,
    internal: false,
    supported_features: { test_connection: tests.supports(type) },
    version: Number.parseInt(type.version, 10),
    config: { settings: { ...type.config.settings }, secrets: { ...type.config.secrets } },
  });
  return [
    organizationRoute(
      {
        method: 'get',
        path: '/v3/{org}/enrichments_meta',
        tag,
        operation: 'listEnrichmentMeta',
        summary: 'List the types of enrichments with their fields',
        description:
          'The types of `GET /v1/enrichments`, at the address of the public API and without icons. They are the same for every organization.',
        access,
        params: Org,
        response: { status: 200, description: 'All types, sorted by name.', schema: z.array(EnrichmentMeta) },
      },
      () => ({ status: 200, body: catalog.list('enrichment').map(present) }),
    ),
    organizationRoute(
      {
        method: 'get',
        path: '/v3/{org}/enrichments_meta/{type_id}',
        tag,
        operation: 'readEnrichmentMeta',
        summary: 'Read a type of enrichments with its fields',
        description:
          '`config.settings` and `config.secrets` are the JSON Schemas of `config` of an enrichment with this type.',
        access,
        params: Org.extend({ type_id: TypeId }),
        response: { status: 200, description: 'The type.', schema: EnrichmentMeta },
      },
      ({ params }) => {
        const type = catalog.get('enrichment', params.type_id);
        if (!type) throw notFound();
        return { status: 200, body: present(type) };
      },
    ),
  ];
}
