import { z } from '@hono/zod-openapi';
import type { PipelineState } from '@connector-frame/engine';
import { notFound } from '../api-error.js';
import { organizationRoute, type Route } from '../http/route.js';
import { increase } from '../pipelines/metric-series.js';
import { Amount, NodeStateBody, Status, SuspensionBody } from '../pipelines/state-body.js';
import type { Pipeline } from '../store/store.js';
import type { CountsByNode } from '../store/tables.js';
import type { RouteContext } from './context.js';
import { Id, Org, OrgAndId, PageQuery, WindowQuery } from './schemas.js';

const DAY = 86_400_000;

const Timestamp = z.iso.datetime().openapi({ description: 'RFC 3339.' });
const counted = {
  ingress: Amount,
  egress: Amount,
  errors: z.int(),
  last_ingested_time: Timestamp.nullable(),
};
const PipelineOverview = z
  .object({ pipeline_id: z.string(), pipeline_name: z.string(), status: Status, ...counted })
  .openapi('PipelineOverview');
const Summary = z
  .object({
    organization_id: z.string(),
    pipelines: z.array(PipelineOverview),
    summary: z
      .object({
        healthy: z.int().openapi({ description: '`Running`, or about to run: `Pending`, `Initializing`.' }),
        unhealthy: z.int().openapi({ description: '`Erroring`, `Throttled` or `Unknown`.' }),
        disabled: z.int(),
        ...counted,
      })
      .openapi('PipelineTotals'),
  })
  .openapi('PipelineSummary');

const HEALTHY: readonly PipelineState['status'][] = ['Running', 'Pending', 'Initializing'];

/** Routes for the state of many pipelines, and of one node. */
export function pipelineOverviewRoutes({ store, engine, clock }: RouteContext): Route[] {
  const shared = { method: 'get', tag: 'Pipelines', access: { permission: 'pipeline:read', session: 'deny' } } as const;
  const statesOf = (pipelines: readonly Pipeline[]): Promise<PipelineState[]> =>
    Promise.all(pipelines.map((pipeline) => engine.status(pipeline)));

  return [
    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/pipelines/statuses',
        operation: 'listPipelineStatuses',
        summary: 'List the statuses of all pipelines',
        description:
          'A page of pipelines, each with its present status alone. `GET /v2/{org}/pipeline_summary` also has counts.',
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description: 'Oldest pipeline first.',
          schema: z.array(
            z
              .object({
                id: z.string(),
                status: Status,
                suspension: SuspensionBody.nullable(),
                last_ingested_time: Timestamp.nullable(),
              })
              .openapi('PipelineStatus'),
          ),
        },
      },
      async ({ organization, query }) => {
        const { rows } = await store.pipelines.list(organization.id, query);
        const states = await statesOf(rows);
        return {
          status: 200,
          body: states.map(({ pipeline_id: id, status, suspension, last_ingested_time }) => ({
            id,
            status,
            suspension,
            last_ingested_time,
          })),
        };
      },
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/pipeline_summary',
        operation: 'summarizePipelines',
        access: { permission: ['pipeline:read', 'pipeline:metrics:read'], session: 'deny' },
        summary: 'Summarize the pipelines of an organization',
        description: 'The present status of each pipeline, and what it has counted in a window.',
        params: Org,
        query: WindowQuery,
        response: { status: 200, description: 'Oldest pipeline first.', schema: Summary },
      },
      async ({ organization, query }) => {
        const now = clock.now();
        const end = query.end ?? new Date(now);
        const start = query.start ?? new Date(end.getTime() - DAY);
        const pipelines = await store.pipelines.all(organization.id);
        const ids = pipelines.map(({ id }) => id);
        const states = await statesOf(pipelines);
        const before = await store.pipelineCounts.before(ids, start);
        // The counts of the last minute are not stored yet.
        const after = end.getTime() >= now ? undefined : await store.pipelineCounts.before(ids, end);
        const rows = states.map((state, index) => {
          const id = state.pipeline_id;
          const counts = after ? (after.get(id) ?? {}) : countsOf(state);
          const sums = increase(before.get(id), counts);
          return {
            pipeline_id: id,
            pipeline_name: pipelines[index]?.name ?? '',
            status: state.status,
            ingress: { bytes: sums.ingress_bytes, records: sums.ingress_records },
            egress: { bytes: sums.egress_bytes, records: sums.egress_records },
            errors: sums.errors,
            last_ingested_time: state.last_ingested_time,
          };
        });
        return { status: 200, body: { organization_id: organization.id, pipelines: rows, summary: totalOf(rows) } };
      },
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/pipelines/{id}/status/{node}',
        operation: 'readPipelineNodeStatus',
        summary: 'Read the status and the counts of a node',
        description: 'One entry of `nodes` in the status of its pipeline.',
        params: OrgAndId.extend({ node: Id }),
        response: { status: 200, description: 'As in the status of its pipeline.', schema: NodeStateBody },
      },
      async ({ organization, params }) => {
        const pipeline = await store.pipelines.get(organization.id, params.id);
        const state = pipeline && (await engine.status(pipeline));
        const node = state?.nodes.find(({ node_id: id }) => id === params.node);
        if (!node) throw notFound();
        return { status: 200, body: node };
      },
    ),
  ];
}

const countsOf = ({ nodes }: PipelineState): CountsByNode =>
  Object.fromEntries(
    nodes.map(({ node_id, component_type: type, ingress, egress, errors }) => [
      node_id,
      { type, ingress, egress, errors },
    ]),
  );

type Row = z.output<typeof PipelineOverview>;

function totalOf(rows: readonly Row[]): z.output<typeof Summary>['summary'] {
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const healthy = rows.filter(({ status }) => HEALTHY.includes(status)).length;
  const disabled = rows.filter(({ status }) => status === 'Disabled').length;
  const times = rows.map((row) => row.last_ingested_time).filter((time) => time !== null);
  return {
    healthy,
    disabled,
    unhealthy: rows.length - healthy - disabled,
    ingress: { bytes: sum(({ ingress }) => ingress.bytes), records: sum(({ ingress }) => ingress.records) },
    egress: { bytes: sum(({ egress }) => egress.bytes), records: sum(({ egress }) => egress.records) },
    errors: sum(({ errors }) => errors),
    last_ingested_time: times.toSorted().at(-1) ?? null,
  };
}
