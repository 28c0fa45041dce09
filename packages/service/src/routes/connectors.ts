import { z } from '@hono/zod-openapi';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import { requireConnector, requireCovered, requireKind } from '../auth/session-scope.js';
import { ConnectorBody, presentConnector, presentConnectors } from '../connectors/present-connector.js';
import { notOwned } from '../connectors/not-owned.js';
import { sharesOf } from '../connectors/share-details.js';
import { notFound } from '../api-error.js';
import { isCurrent, requireMatch, versionTag } from '../http/etag.js';
import { organizationRoute, type Route } from '../http/route.js';
import { requireUnused } from '../pipelines/in-use.js';
import { PipelineUse, presentUse } from '../pipelines/present-pipeline.js';
import type { RouteContext } from './context.js';
import { Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

const ConnectorInUse = ConnectorBody.extend({
  component_of: z.array(PipelineUse).optional().openapi({
    description: 'The pipelines that use it, oldest first. Not returned to sessions.',
  }),
}).openapi('ConnectorInUse');

/** Routes that list, read and delete connectors. */
export function connectorRoutes({ store, ingest }: RouteContext, kind: ConnectorKind): Route[] {
  const plural = `${kind}s` as const;
  const tag = kind === 'input' ? 'Inputs' : 'Outputs';
  const Kind = tag.slice(0, -1);
  const routes = [
    organizationRoute(
      {
        method: 'get',
        path: `/v1/{org}/${plural}`,
        tag,
        operation: `list${tag}`,
        summary: `List the ${plural} of an organization`,
        description: `Settings are included. Of each secret, the list shows that it is stored, never its value.`,
        access: { permission: `${kind}:read`, session: 'deny' },
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description:
            kind === 'input' ? 'Oldest first.' : 'Oldest first. Those that the parent shares with a team are included.',
          schema: z.object({ [plural]: z.array(ConnectorBody), pagination: Pagination }).openapi(`${Kind}List`),
        },
      },
      async ({ organization, query }) => {
        // Only outputs are shared, and only with teams.
        const shared = kind === 'output' && organization.parentId !== null;
        const { rows, total } = await store.connectors.list(organization.id, kind, query, { shared });
        const notes = await store.secrets.notes(rows.map(({ id }) => id));
        const shares = await sharesOf(store, organization, 'component', rows);
        const pagination = { limit: query.limit, offset: query.offset, total };
        return { status: 200, body: { [plural]: presentConnectors(rows, notes, ingest.placeOf, shares), pagination } };
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: `/v1/{org}/${plural}/{id}`,
        tag,
        operation: `read${Kind}`,
        summary: `Read an ${kind}`,
        description: `\`component_of\` lists the pipelines that use it. Send the ETag as \`If-Match\` with a change.`,
        access: { permission: `${kind}:read`, session: 'allow' },
        params: OrgAndId,
        etag: true,
        response: { status: 200, description: 'The connector.', schema: ConnectorInUse },
      },
      async ({ c, principal, organization, params }) => {
        requireKind(principal, kind);
        requireConnector(principal, params.id);
        const isSession = principal.type === 'session';
        const connector =
          (await store.connectors.get(organization.id, kind, params.id)) ??
          (isSession ? undefined : await store.connectors.shared(organization.id, kind, params.id));
        if (!connector) throw notFound();
        requireCovered(principal, connector.type);
        const headers = { ETag: versionTag(connector.version) };
        // The ETag does not cover `component_of`, so an API key always gets the full response.
        if (isSession && isCurrent(c.req.header('if-none-match'), headers.ETag)) return { status: 304, headers };
        const [notes, used, shares] = await Promise.all([
          store.secrets.notes([connector.id]),
          isSession ? undefined : store.pipelines.using(organization.id, connector.id),
          sharesOf(store, organization, 'component', [connector]),
        ]);
        const component_of = used?.map(presentUse);
        const [shown] = presentConnectors([connector], notes, ingest.placeOf, shares);
        const body = { ...shown, ...(component_of ? { component_of } : {}) };
        return { status: 200, body, headers };
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: `/v1/{org}/${plural}/{id}`,
        tag,
        operation: `delete${Kind}`,
        summary: `Delete an ${kind} and its secrets`,
        description: `Secrets of the organization that it refers to are kept. Delete the pipelines that use it first.`,
        access: { permission: `${kind}:delete`, session: 'deny' },
        params: OrgAndId,
        conditional: true,
        response: { status: 200, description: 'The deleted resource.', schema: ConnectorInUse },
        errorStatuses: { 409: `Pipelines still use it; \`additional_details\` names them.` },
      },
      ({ c, organization, params, commit }) =>
        commit(async (tables) => {
          const connector = await tables.connectors.lock(organization.id, kind, params.id);
          if (!connector) throw await notOwned(tables, organization.id, kind, params.id);
          requireMatch(c.req.header('if-match'), versionTag(connector.version));
          // The row lock keeps other transactions from adding it to a pipeline.
          requireUnused(kind, await tables.pipelines.usingAnywhere(connector.id));
          const notes = await tables.secrets.notes([connector.id]);
          await tables.connectors.remove(connector.id);
          const shown = presentConnector(connector, notes, ingest.placeOf(connector));
          return { status: 200, body: { ...shown, component_of: [] } };
        }),
    ),
  ];
  return routes.map((each): Route => ({ ...each, reveal: ingest.reveal }));
}
