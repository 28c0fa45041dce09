import { z } from '@hono/zod-openapi';
import { notFound } from '../api-error.js';
import { isCurrent, requireMatch, versionTag } from '../http/etag.js';
import { organizationRoute, type OrganizationCall, type ResponseData, type Route } from '../http/route.js';
import { componentsAt } from '../pipelines/node-components.js';
import {
  PipelineBody,
  PipelineRow,
  presentPipeline,
  presentRow,
  type PipelineDetails,
} from '../pipelines/present-pipeline.js';
import { PipelineStateBody } from '../pipelines/state-body.js';
import { schedulesOf } from '../pipelines/schedules.js';
import type { Pipeline } from '../store/store.js';
import type { RouteContext } from './context.js';
import { readerOf } from './override-access.js';
import { Id, Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

const StatusQuery = z.object({
  include_status: z.enum(['true', 'false']).default('false').openapi({ description: 'Adds `status`.' }),
});
const status = PipelineStateBody.optional().openapi({ description: 'With `include_status=true`.' });

const PipelineRowWithStatus = PipelineRow.extend({ status }).openapi('PipelineRowWithStatus');
const PipelineWithStatus = PipelineBody.extend({ status }).openapi('PipelineWithStatus');
const PipelineList = z
  .object({ pipelines: z.array(PipelineRowWithStatus), pagination: Pagination })
  .openapi('PipelineList');

const ListQuery = PageQuery.extend({
  component_id: Id.optional().openapi({ description: 'Only pipelines that use this connector or transform.' }),
  ...StatusQuery.shape,
});

type ReadCall = OrganizationCall<{ id: string }, z.output<typeof StatusQuery>, undefined>;

/** Pipelines can be listed and created under either path. */
export const pipelineAddresses = [
  { path: '/v2/{org}/pipelines', name: '' },
  { path: '/v2/organizations/{org}/pipelines', name: 'Organization' },
] as const;
/** Under the older address, a pipeline has no nodes and edges. */
const listAddresses = [...pipelineAddresses, { path: '/v1/{org}/pipelines', name: 'V1' }] as const;

/** Routes that list, read and delete pipelines, and report their status. */
export function pipelineRoutes(context: RouteContext): Route[] {
  const { store, engine } = context;
  const tag = 'Pipelines';
  const read = { permission: 'pipeline:read', session: 'deny' } as const;
  const one = { tag, params: OrgAndId };

  /** Returns the status if it is requested. */
  const statusOf = async (pipeline: Pipeline, isIncluded: 'true' | 'false') =>
    isIncluded === 'true' ? { status: await engine.status(pipeline) } : {};

  async function readOne(
    { c, principal, organization, params, query }: ReadCall,
    present: (pipeline: Pipeline, details: PipelineDetails) => object,
  ): Promise<ResponseData> {
    const pipeline = await store.pipelines.get(organization.id, params.id);
    if (!pipeline) throw notFound();
    const status = await statusOf(pipeline, query.include_status);
    const schedule = (await schedulesOf(context, store, organization.id, [pipeline])).get(pipeline.id);
    const components = await componentsAt(store, pipeline, readerOf(principal));
    // The status changes without a new version.
    const headers = query.include_status === 'true' ? undefined : { ETag: versionTag(pipeline.version) };
    // So do the time of the next run, and the connectors.
    const isVersioned = !schedule && components.size === 0;
    if (headers && isVersioned && isCurrent(c.req.header('if-none-match'), headers.ETag))
      return { status: 304, headers };
    return {
      status: 200,
      body: { ...present(pipeline, { schedule, components }), ...status },
      ...(headers && { headers }),
    };
  }

  return [
    ...listAddresses.map(({ path, name }) =>
      organizationRoute(
        {
          method: 'get',
          path,
          tag,
          operation: `list${name}Pipelines`,
          summary: 'List the pipelines of an organization',
          description:
            'With `include_status=true`, each has its status and counts, which takes longer. The three addresses of this list return the same.',
          access: { permission: 'pipeline:read', session: 'deny' },
          params: Org,
          query: ListQuery,
          response: {
            status: 200,
            description: 'Oldest first, without nodes and edges.',
            schema: PipelineList,
          },
        },
        async ({ organization, query: { component_id, include_status, ...page } }) => {
          const { rows, total } = await store.pipelines.list(organization.id, page, component_id);
          const schedules = await schedulesOf(context, store, organization.id, rows);
          const pipelines = await Promise.all(
            rows.map(async (row) => ({
              ...presentRow(row, schedules.get(row.id)),
              ...(await statusOf(row, include_status)),
            })),
          );
          return { status: 200, body: { pipelines, pagination: { ...page, total } } };
        },
      ),
    ),

    organizationRoute(
      {
        ...one,
        method: 'get',
        path: '/v2/{org}/pipelines/{id}',
        operation: 'readPipeline',
        summary: 'Read a pipeline',
        description:
          'With nodes and edges. A node with overrides also has its `component`, with the configuration that it runs with, if the key may read it. Send the ETag as `If-Match` with a change; with `include_status=true` there is none.',
        access: read,
        query: StatusQuery,
        etag: true,
        response: { status: 200, description: 'The pipeline.', schema: PipelineWithStatus },
      },
      (call) => readOne(call, presentPipeline),
    ),
    organizationRoute(
      {
        ...one,
        method: 'get',
        path: '/v1/{org}/pipelines/{id}',
        operation: 'readV1Pipeline',
        summary: 'Read a pipeline without its nodes and edges',
        description: 'Like the rows of the list. `GET /v2/{org}/pipelines/{id}` has the nodes and edges.',
        access: read,
        query: StatusQuery,
        etag: true,
        response: { status: 200, description: 'The pipeline.', schema: PipelineRowWithStatus },
      },
      (call) => readOne(call, (pipeline, { schedule }) => presentRow(pipeline, schedule)),
    ),

    ...(['v2', 'v1'] as const).map((version) =>
      organizationRoute(
        {
          ...one,
          method: 'delete',
          path: `/${version}/{org}/pipelines/{id}`,
          operation: version === 'v2' ? 'deletePipeline' : 'deleteV1Pipeline',
          summary: 'Delete a pipeline; its connectors are kept',
          description: 'Records that wait in it, its dead letters, its metrics and its log are deleted with it.',
          access: { permission: 'pipeline:delete', session: 'deny' },
          conditional: true,
          response: { status: 200, description: 'The deleted resource.', schema: PipelineBody },
        },
        async ({ c, organization, params, commit }) => {
          const response = await commit(async (tables) => {
            const pipeline = await tables.pipelines.lock(organization.id, params.id);
            if (!pipeline) throw notFound();
            requireMatch(c.req.header('if-match'), versionTag(pipeline.version));
            await tables.pipelines.remove(pipeline.id);
            // Without a schedule: there is no next run.
            return { status: 200, body: presentPipeline(pipeline) };
          });
          engine.changed(params.id);
          return response;
        },
      ),
    ),

    organizationRoute(
      {
        method: 'get',
        path: '/v2/{org}/pipelines/{id}/status',
        tag,
        operation: 'readPipelineStatus',
        summary: 'Read the status and the counts of a pipeline',
        description: 'Observed by the engine. `Unknown` if no engine reports it.',
        access: { permission: 'pipeline:read', session: 'deny' },
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
