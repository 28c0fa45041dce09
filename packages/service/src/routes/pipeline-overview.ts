import { z } from '@hono/zod-openapi';
import type { PipelineState } from '@connector-frame/engine';
import { notFound } from '../api-error.js';
import { organizationRoute, type Route } from '../http/route.js';
import { increase, type Sums } from '../pipelines/metric-series.js';
import { Amount, NodeStateBody, PipelineStateBody, Status, SuspensionBody } from '../pipelines/state-body.js';
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

/** What clients of the public API can ask a status for. */
const PARTS = [
  'all',
  'health',
  'ingress_bytes',
  'egress_bytes',
  'ingress_records',
  'egress_records',
  'backpressure',
] as const;

const StatusQuery = WindowQuery.extend({
  metrics: z
    .array(z.enum(PARTS))
    .optional()
    .openapi({ description: 'What the client reads. Has no effect: every answer has all of it.', example: ['all'] }),
});
type StatusWindow = z.output<typeof StatusQuery>;
const inWindowText =
  'With `start` or `end`, `ingress`, `egress` and `errors` are those of that window (default start: 24 hours before its end), else all since the pipeline was created. The rest is as of now. Windows are exact to the minute.';

const HEALTHY: readonly PipelineState['status'][] = ['Running', 'Pending', 'Initializing'];

/** Routes for the state of pipelines and of their nodes. */
export function pipelineOverviewRoutes({ store, engine, clock }: RouteContext): Route[] {
  const shared = { method: 'get', tag: 'Pipelines', access: { permission: 'pipeline:read', session: 'deny' } } as const;
  const statesOf = (pipelines: readonly Pipeline[]): Promise<PipelineState[]> =>
    Promise.all(pipelines.map((pipeline) => engine.status(pipeline)));

  /** Returns for each pipeline the counts before a window and at its end. */
  async function countsIn({ start, end }: StatusWindow, states: readonly PipelineState[]) {
    const now = clock.now();
    const ids = states.map(({ pipeline_id: id }) => id);
    const until = end ?? new Date(now);
    const before = await store.pipelineCounts.before(ids, start ?? new Date(until.getTime() - DAY));
    // The counts of the last minute are not stored yet.
    const after = until.getTime() >= now ? undefined : await store.pipelineCounts.before(ids, until);
    return states.map((state) => ({
      before: before.get(state.pipeline_id),
      after: after ? (after.get(state.pipeline_id) ?? {}) : countsOf(state),
    }));
  }

  /** Returns the state with the counts of a window, if one is requested. */
  async function readState(organizationId: string, id: string, query: StatusWindow): Promise<PipelineState> {
    const pipeline = await store.pipelines.get(organizationId, id);
    if (!pipeline) throw notFound();
    const state = await engine.status(pipeline);
    const [counts] = query.start || query.end ? await countsIn(query, [state]) : [];
    if (!counts) return state;
    const increaseOf = (nodeId?: string) => amountsOf(increase(counts.before, counts.after, nodeId));
    return {
      ...state,
      ...increaseOf(),
      nodes: state.nodes.map((node) => ({ ...node, ...increaseOf(node.node_id) })),
    };
  }

  return [
    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/pipelines/statuses',
        operation: 'listPipelineStatuses',
        summary: 'List the statuses of all pipelines',
        description:
          'A page of pipelines, each with its present status alone, whatever the window. `GET /v2/{org}/pipeline_summary` has the counts of a window.',
        params: Org,
        query: PageQuery.extend(WindowQuery.shape),
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
        const { rows } = await store.pipelines.list(organization.id, { limit: query.limit, offset: query.offset });
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
        const pipelines = await store.pipelines.all(organization.id);
        const states = await statesOf(pipelines);
        const counts = await countsIn(query, states);
        const rows = states.map(({ pipeline_id, status, last_ingested_time }, index) => ({
          pipeline_id,
          pipeline_name: pipelines[index]?.name ?? '',
          status,
          ...amountsOf(increase(counts[index]?.before, counts[index]?.after ?? {})),
          last_ingested_time,
        }));
        return { status: 200, body: { organization_id: organization.id, pipelines: rows, summary: totalOf(rows) } };
      },
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/pipelines/{id}/status',
        operation: 'readPipelineStatus',
        summary: 'Read the status and the counts of a pipeline',
        description: `Observed by the engine. \`Unknown\` if no engine reports it. ${inWindowText}`,
        params: OrgAndId,
        query: StatusQuery,
        response: { status: 200, description: 'The current state.', schema: PipelineStateBody },
      },
      async ({ organization, params, query }) => ({
        status: 200,
        body: await readState(organization.id, params.id, query),
      }),
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/pipelines/{id}/status/{node}',
        operation: 'readPipelineNodeStatus',
        summary: 'Read the status and the counts of a node',
        description: `One entry of \`nodes\` in the status of its pipeline. ${inWindowText}`,
        params: OrgAndId.extend({ node: Id }),
        query: StatusQuery,
        response: { status: 200, description: 'As in the status of its pipeline.', schema: NodeStateBody },
      },
      async ({ organization, params, query }) => {
        const { nodes } = await readState(organization.id, params.id, query);
        const node = nodes.find(({ node_id: id }) => id === params.node);
        if (!node) throw notFound();
        return { status: 200, body: node };
      },
    ),
  ];
}

const amountsOf = (sums: Sums): Pick<PipelineState, 'ingress' | 'egress' | 'errors'> => ({
  ingress: { bytes: sums.ingress_bytes, records: sums.ingress_records },
  egress: { bytes: sums.egress_bytes, records: sums.egress_records },
  errors: sums.errors,
});

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
