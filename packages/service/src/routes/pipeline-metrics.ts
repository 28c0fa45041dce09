import { z } from '@hono/zod-openapi';
import { notFound } from '../api-error.js';
import { organizationRoute, type OrganizationCall, type Route } from '../http/route.js';
import { METRICS, seriesOf, type Metric, type SeriesValue, type Span } from '../pipelines/metric-series.js';
import { formatResolution, spanOf } from '../pipelines/resolution.js';
import type { Pipeline } from '../store/store.js';
import type { RouteContext } from './context.js';
import { Id, Org, OrgAndId } from './schemas.js';
import {
  MetricValue,
  presentValue,
  Resolution,
  resolutionPattern,
  resolutionText,
  seriesFields,
  SeriesQuery,
} from './series-bodies.js';

const HOUR = 3_600_000;
/** Maximum number of pipelines in one request. */
const MAX_PIPELINES = 100;

const Series = z
  .object({
    metric: z.enum(METRICS),
    ...seriesFields,
    pipeline_id: z.string(),
    pipeline_name: z.string(),
    node_id: z.string().optional(),
    node_slug: z.string().optional(),
    values: z.array(MetricValue).openapi({ description: 'Oldest first, without gaps.' }),
  })
  .openapi('PipelineMetricSeries');

const PipelineBytes = z
  .object({
    pipeline_id: z.string(),
    pipeline_name: z.string(),
    total_bytes: z.int(),
    values: z.array(MetricValue),
  })
  .openapi('PipelineByteSeries');

type SeriesCall = OrganizationCall<{ id: string; node?: string }, z.output<typeof SeriesQuery>, undefined>;

/** Routes for what pipelines have counted, as time series. */
export function pipelineMetricsRoutes({ store, clock }: RouteContext): Route[] {
  async function valuesOf(
    { id }: Pipeline,
    metrics: readonly Metric[],
    span: Span,
    nodeId?: string,
  ): Promise<SeriesValue[][]> {
    const [start, end] = [new Date(span.start), new Date(span.end)];
    const before = await store.pipelineCounts.before([id], start);
    const rows = await store.pipelineCounts.between(id, start, end);
    return metrics.map((metric) => seriesOf(metric, span, before.get(id), rows, nodeId));
  }

  async function readSeries({ organization, params, query }: SeriesCall) {
    const pipeline = await store.pipelines.get(organization.id, params.id);
    const node = pipeline?.nodes.find(({ id }) => id === params.node);
    if (!pipeline || (params.node !== undefined && !node)) throw notFound();
    const span = spanOf(query, clock.now(), 6 * HOUR);
    const [values = []] = await valuesOf(pipeline, [query.metric], span, node?.id);
    const body = {
      metric: query.metric,
      organization_id: organization.id,
      organization_name: organization.name,
      pipeline_id: pipeline.id,
      pipeline_name: pipeline.name,
      ...(node && { node_id: node.id, node_slug: node.slug }),
      start_at: new Date(span.start).toISOString(),
      end_at: new Date(span.end).toISOString(),
      resolution: formatResolution(span.step),
      values: values.map(presentValue),
    };
    return { status: 200, body } as const;
  }

  const shared = {
    method: 'get',
    tag: 'Pipelines',
    description:
      'Counted by the engine and stored once a minute: by the minute for 24 hours, then by the hour for METRICS_DAYS days.',
    access: { permission: 'pipeline:metrics:read', session: 'deny' },
    response: { status: 200, description: 'The series.', schema: Series },
  } as const;
  const ofNode = {
    ...shared,
    summary: 'Read a metric of a node as a time series',
    params: OrgAndId.extend({ node: Id }),
    query: SeriesQuery,
  };
  return [
    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/metrics/pipelines/{id}',
        operation: 'readPipelineSeries',
        summary: 'Read a metric of a pipeline as a time series',
        params: OrgAndId,
        query: SeriesQuery,
      },
      readSeries,
    ),
    organizationRoute(
      { ...ofNode, path: '/v2/{org}/metrics/pipelines/{id}/{node}', operation: 'readPipelineNodeSeries' },
      readSeries,
    ),
    organizationRoute(
      { ...ofNode, path: '/v2/{org}/pipelines/{id}/{node}/metrics', operation: 'readNodeSeries' },
      readSeries,
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/pipelines/metrics',
        operation: 'readPipelinesBytes',
        summary: 'Read the bytes of several pipelines in the last 24 hours',
        params: Org,
        query: z.object({
          pipeline_ids: z
            .string()
            .max(10_000)
            .transform((text) => [...new Set(text.split(','))])
            .pipe(z.array(Id).min(1).max(MAX_PIPELINES))
            .openapi({
              type: 'string',
              pattern: '^[\\w-]{1,64}(,[\\w-]{1,64})*$',
              description: `At most ${MAX_PIPELINES} IDs, separated by commas.`,
            }),
          resolution: Resolution.default(300_000).openapi({
            type: 'string',
            pattern: resolutionPattern,
            default: '5m',
            description: resolutionText,
          }),
        }),
        response: {
          status: 200,
          description: 'The pipelines in the order of the IDs.',
          schema: z
            .object({ ingress_bytes: z.array(PipelineBytes), egress_bytes: z.array(PipelineBytes) })
            .openapi('PipelinesBytes'),
        },
      },
      async ({ organization, query: { pipeline_ids: ids, resolution } }) => {
        const known = new Map((await store.pipelines.all(organization.id)).map((each) => [each.id, each]));
        const span = spanOf({ resolution }, clock.now(), 24 * HOUR);
        const body = { ingress_bytes: [] as object[], egress_bytes: [] as object[] };
        for (const id of ids) {
          const pipeline = known.get(id);
          if (!pipeline) throw notFound();
          const metrics = ['ingress_bytes', 'egress_bytes'] as const;
          const found = await valuesOf(pipeline, metrics, span);
          for (const [index, metric] of metrics.entries()) {
            const values = (found[index] ?? []).map(presentValue);
            const total = values.reduce((sum, { value }) => sum + value, 0);
            body[metric].push({ pipeline_id: id, pipeline_name: pipeline.name, total_bytes: total, values });
          }
        }
        return { status: 200, body };
      },
    ),
  ];
}
