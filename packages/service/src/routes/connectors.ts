import { z } from '@hono/zod-openapi';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import { requireConnector, requireCovered, requireKind } from '../auth/session-scope.js';
import { ConnectorBody, presentConnector, presentConnectors } from '../connectors/present-connector.js';
import { ApiError, notFound } from '../http/api-error.js';
import { isCurrent, requireMatch, versionTag } from '../http/etag.js';
import { organizationRoute, type Route } from '../http/route.js';
import type { RouteContext } from './context.js';
import { Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

const PipelineUse = z
  .object({
    id: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    input_id: z.string(),
    output_ids: z.array(z.string()),
  })
  .openapi('PipelineUse');

const ConnectorInUse = ConnectorBody.extend({
  component_of: z.array(PipelineUse).openapi({ description: 'The pipelines that use it.' }),
}).openapi('ConnectorInUse');

/** List, read and delete. */
export function connectorRoutes({ store, pipelines }: RouteContext, kind: ConnectorKind): Route[] {
  const plural = `${kind}s` as const;
  const tag = kind === 'input' ? 'Inputs' : 'Outputs';
  const Kind = tag.slice(0, -1);
  return [
    organizationRoute(
      {
        method: 'get',
        path: `/v1/{org}/${plural}`,
        tag,
        operation: `list${tag}`,
        summary: `List the ${plural} of an organization`,
        access: { permission: 'read', session: 'deny' },
        params: Org,
        query: PageQuery,
        answer: {
          status: 200,
          description: 'Oldest first.',
          schema: z.object({ [plural]: z.array(ConnectorBody), pagination: Pagination }),
        },
      },
      async ({ organization, query }) => {
        const { rows, total } = await store.connectors.list(organization.id, kind, query);
        const notes = await store.secrets.notes(rows.map(({ id }) => id));
        const pagination = { limit: query.limit, offset: query.offset, total };
        return { status: 200, body: { [plural]: presentConnectors(rows, notes), pagination } };
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: `/v1/{org}/${plural}/{id}`,
        tag,
        operation: `read${Kind}`,
        summary: `Read one of the ${plural}`,
        access: { permission: 'read', session: 'allow' },
        params: OrgAndId,
        answer: { status: 200, description: 'The connector.', schema: ConnectorInUse },
      },
      async ({ c, principal, organization, params }) => {
        requireKind(principal, kind);
        requireConnector(principal, params.id);
        const connector = await store.connectors.get(organization.id, kind, params.id);
        if (!connector) throw notFound();
        requireCovered(principal, connector.type);
        const headers = { ETag: versionTag(connector.version) };
        const [notes, component_of] = await Promise.all([
          store.secrets.notes([connector.id]),
          pipelines.using(organization.id, connector.id),
        ]);
        if (isCurrent(c.req.header('if-none-match'), headers.ETag)) return { status: 304, headers };
        return { status: 200, body: { ...presentConnector(connector, notes), component_of }, headers };
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: `/v1/{org}/${plural}/{id}`,
        tag,
        operation: `delete${Kind}`,
        summary: `Delete one of the ${plural} with its secrets`,
        access: { permission: 'write', session: 'deny' },
        params: OrgAndId,
        conditional: true,
        answer: { status: 200, description: 'What was deleted.', schema: ConnectorInUse },
        refusals: [409],
      },
      async ({ c, organization, params, commit }) => {
        const used = await pipelines.using(organization.id, params.id);
        return commit(async (tables) => {
          const connector = await tables.connectors.lock(organization.id, kind, params.id);
          if (!connector) throw notFound();
          requireMatch(c.req.header('if-match'), versionTag(connector.version));
          if (used.length > 0) {
            throw new ApiError(409, 'conflict', 'Pipelines still use this connector. Delete them first.', {
              details: { pipelines: used },
            });
          }
          const notes = await tables.secrets.notes([connector.id]);
          await tables.connectors.remove(connector.id);
          return { status: 200, body: { ...presentConnector(connector, notes), component_of: [] } };
        });
      },
    ),
  ];
}
