import { z } from '@hono/zod-openapi';
import { notFound } from '../api-error.js';
import { isCurrent, requireMatch, versionTag } from '../http/etag.js';
import { organizationRoute, type Route } from '../http/route.js';
import { PipelineBody, PipelineRow, presentPipeline, presentRow } from '../pipelines/present-pipeline.js';
import { PipelineStateBody } from '../pipelines/state-body.js';
import type { RouteContext } from './context.js';
import { Id, Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

const ListQuery = PageQuery.extend({
  component_id: Id.optional().openapi({ description: 'Only pipelines that use this connector or transform.' }),
});

/** Pipelines can be listed and created under either path. */
export const pipelineAddresses = [
  { path: '/v2/{org}/pipelines', name: '' },
  { path: '/v2/organizations/{org}/pipelines', name: 'Organization' },
] as const;

/** Routes that list, read and delete pipelines, and report their status. */
export function pipelineRoutes({ store, engine }: RouteContext): Route[] {
  const tag = 'Pipelines';
  return [
    ...pipelineAddresses.map(({ path, name }) =>
      organizationRoute(
        {
          method: 'get',
          path,
          tag,
          operation: `list${name}Pipelines`,
          summary: 'List the pipelines of an organization',
          access: { permission: 'read', session: 'deny' },
          params: Org,
          query: ListQuery,
          response: {
            status: 200,
            description: 'Oldest first, without nodes and edges.',
            schema: z.object({ pipelines: z.array(PipelineRow), pagination: Pagination }),
          },
        },
        async ({ organization, query: { component_id, ...page } }) => {
          const { rows, total } = await store.pipelines.list(organization.id, page, component_id);
          return { status: 200, body: { pipelines: rows.map(presentRow), pagination: { ...page, total } } };
        },
      ),
    ),

    organizationRoute(
      {
        method: 'get',
        path: '/v2/{org}/pipelines/{id}',
        tag,
        operation: 'readPipeline',
        summary: 'Read a pipeline',
        access: { permission: 'read', session: 'deny' },
        params: OrgAndId,
        response: { status: 200, description: 'The pipeline.', schema: PipelineBody },
      },
      async ({ c, organization, params }) => {
        const pipeline = await store.pipelines.get(organization.id, params.id);
        if (!pipeline) throw notFound();
        const headers = { ETag: versionTag(pipeline.version) };
        if (isCurrent(c.req.header('if-none-match'), headers.ETag)) return { status: 304, headers };
        return { status: 200, body: presentPipeline(pipeline), headers };
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: '/v2/{org}/pipelines/{id}',
        tag,
        operation: 'deletePipeline',
        summary: 'Delete a pipeline; its connectors are kept',
        access: { permission: 'write', session: 'deny' },
        params: OrgAndId,
        conditional: true,
        response: { status: 200, description: 'The deleted resource.', schema: PipelineBody },
      },
      async ({ c, organization, params, commit }) => {
        const response = await commit(async (tables) => {
          const pipeline = await tables.pipelines.lock(organization.id, params.id);
          if (!pipeline) throw notFound();
          requireMatch(c.req.header('if-match'), versionTag(pipeline.version));
          await tables.pipelines.remove(pipeline.id);
          return { status: 200, body: presentPipeline(pipeline) };
        });
        engine.changed(params.id);
        return response;
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: '/v2/{org}/pipelines/{id}/status',
        tag,
        operation: 'readPipelineStatus',
        summary: 'Read the status and the counts of a pipeline',
        description: 'Observed by the engine. `Unknown` if no engine reports it.',
        access: { permission: 'read', session: 'deny' },
        params: OrgAndId,
        response: { status: 200, description: 'The current state.', schema: PipelineStateBody },
      },
      async ({ organization, params }) => {
        const pipeline = await store.pipelines.get(organization.id, params.id);
        if (!pipeline) throw notFound();
        return { status: 200, body: await engine.status(pipeline) };
      },
    ),
  ];
}
