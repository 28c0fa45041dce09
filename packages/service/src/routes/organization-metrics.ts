import { z } from '@hono/zod-openapi';
import { notFound } from '../api-error.js';
import { GB, inDollars, storageCosts, type StorageCost } from '../billing/storage-cost.js';
import { organizationRoute, type Route } from '../http/route.js';
import { METRICS, type Metric, type SeriesValue, type Span } from '../pipelines/metric-series.js';
import { formatResolution, spanOf, windowOf } from '../pipelines/resolution.js';
import type { UsageAmounts } from '../store/tables.js';
import type { Organization } from '../store/store.js';
import type { UsageFilter } from '../store/usage.js';
import { HOUR, MINUTE, minuteOf } from '../usage/periods.js';
import { BILLING_TYPES, typesOf, type BillingType } from '../usage/storage-types.js';
import type { RouteContext } from './context.js';
import { Id, Org, TypeId, WindowQuery } from './schemas.js';
import { MetricValue, presentValue, ResolutionQuery, seriesFields, SeriesQuery } from './series-bodies.js';

const STORAGE_METRICS = ['egress_bytes', 'egress_records', 'errors'] as const satisfies readonly Metric[];

const columns = {
  ingress_bytes: 'ingressBytes',
  egress_bytes: 'egressBytes',
  ingress_records: 'ingressRecords',
  egress_records: 'egressRecords',
  errors: 'errors',
} as const satisfies Record<Metric, keyof UsageAmounts>;

const storageFilter = {
  billing_type: z
    .enum(BILLING_TYPES)
    .optional()
    .openapi({ description: '`non_billable`: types that store nothing, such as `dev-null`.' }),
  pipeline_id: Id.optional().openapi({ description: 'Only this pipeline, which may be deleted.' }),
};
const StorageSeriesQuery = ResolutionQuery.extend({
  metric: z.enum(STORAGE_METRICS).openapi({ description: 'What to read.' }),
  ...storageFilter,
});
const StorageQuery = WindowQuery.extend(storageFilter);
const OrgAndType = Org.extend({ storage_type: TypeId });

const OrganizationSeries = z
  .object({
    metric: z.enum(METRICS),
    ...seriesFields,
    values: z.array(MetricValue).openapi({ description: 'Oldest first, without gaps.' }),
  })
  .openapi('OrganizationMetricSeries');

const StorageSeries = z
  .object({
    metric: z.enum(STORAGE_METRICS),
    ...seriesFields,
    storage_types: z.array(
      z
        .object({ storage_type: z.string(), values: z.array(MetricValue) })
        .openapi('StorageTypeSeries', { description: 'Types without usage in the window are left out.' }),
    ),
  })
  .openapi('StorageTypeMetricSeries');

const { organization_id, organization_name, end_at } = seriesFields;
const storageFields = {
  organization_id,
  organization_name,
  start_at: z.iso.datetime().openapi({ description: 'RFC 3339.' }),
  end_at,
};
const gigabytes = z.number().openapi({ description: 'In 10^9 bytes.' });
const dollars = z.number().openapi({ description: 'In US dollars.' });

const StorageDetails = z
  .object({
    ...storageFields,
    outputs: z.array(
      z
        .object({
          pipeline_id: z.string(),
          output_id: z.string(),
          input_id: z.string(),
          storage_type: z.string(),
          ingress_bytes: z.int().openapi({ description: 'Received from the input, before conditions and transforms.' }),
          ingress_gb: gigabytes,
          egress_bytes: z.int().openapi({ description: 'Written to the destination.' }),
          egress_gb: gigabytes,
        })
        .openapi('StorageTypeOutput'),
    ),
  })
  .openapi('StorageTypeDetails');

const StorageSummary = z
  .object({
    ...storageFields,
    outputs: z
      .record(
        z.string(),
        z
          .object({
            cost_id: z.string().optional().openapi({ description: 'Absent if no cost is set.' }),
            cost_per_gb: dollars,
            num_pipelines: z.int(),
            egress_bytes: z.int().openapi({ description: 'Written to the destinations.' }),
            egress_bytes_gb: gigabytes,
            pre_filter_bytes: z.int().openapi({ description: 'The same before conditions and transforms.' }),
            pre_filter_bytes_gb: gigabytes,
            total_cost_post_filter: dollars,
            total_cost_pre_filter: dollars,
          })
          .openapi('StorageTypeUsage'),
      )
      .openapi({ description: 'By type of output.' }),
    cost_summary: z
      .object({
        total_org_ingest_bytes: z.int().openapi({ description: 'Received by all inputs.' }),
        total_org_ingest_gb: gigabytes,
        total_org_output_storage_bytes: z.int().openapi({ description: 'Written to the destinations.' }),
        total_org_output_storage_gb: gigabytes,
        total_org_cost_pre_filter: dollars,
        total_org_cost_post_filter: dollars,
      })
      .openapi('StorageCostSummary'),
  })
  .openapi('StorageTypeSummary');

/** Routes for the usage of an organization, as series and by type of storage. */
export function organizationMetricsRoutes({ store, catalog, clock }: RouteContext): Route[] {
  const read = { permission: 'pipeline:metrics:read', session: 'deny' } as const;
  const shared = { method: 'get', tag: 'Usage', access: read } as const;
  const lag = 'It also counts pipelines that were deleted, and lags behind by a few seconds.';
  const outputTypes = catalog.list('output').map(({ type_id: id }) => id);

  /** Returns the types that a request asks for; `undefined`: all. */
  function typesFor(billingType: BillingType | undefined, storageType?: string): string[] | undefined {
    if (storageType !== undefined && !outputTypes.includes(storageType)) throw notFound();
    const types = storageType === undefined ? outputTypes : [storageType];
    if (billingType !== undefined) return typesOf(billingType, types);
    return storageType === undefined ? undefined : types;
  }

  async function details(organization: Organization, query: z.output<typeof StorageQuery>, storageType?: string) {
    const types = typesFor(query.billing_type, storageType);
    const span = windowOf(query, clock.now(), 6 * HOUR);
    const filter = outputsOf(organization, query.pipeline_id, types, span);
    const rows = await store.usage.sum(filter, ['pipelineId', 'componentId', 'type', 'inputId']);
    const outputs = rows.map(({ pipelineId, componentId, type, inputId, unfilteredBytes, egressBytes }) => ({
      pipeline_id: pipelineId,
      output_id: componentId,
      input_id: inputId,
      storage_type: type,
      ingress_bytes: unfilteredBytes,
      ingress_gb: unfilteredBytes / GB,
      egress_bytes: egressBytes,
      egress_gb: egressBytes / GB,
    }));
    return { status: 200, body: { ...presentSpan(organization, span), outputs } } as const;
  }

  async function summary(organization: Organization, query: z.output<typeof StorageQuery>, storageType?: string) {
    const types = typesFor(query.billing_type, storageType);
    const span = windowOf(query, clock.now(), 6 * HOUR);
    const { pipeline_id: pipelineId } = query;
    const costs = await storageCosts(store, organization.id, span, { pipelineId, types });
    const inputs = { organizationIds: [organization.id], pipelineId, componentType: 'input' } as const;
    const [received] = await store.usage.sum({ ...inputs, ...minutesOf(span) }, []);
    const body = {
      ...presentSpan(organization, span),
      outputs: Object.fromEntries(costs.map((cost) => [cost.type, presentCost(cost)])),
      cost_summary: summaryOf(costs, received?.ingressBytes ?? 0),
    };
    return { status: 200, body } as const;
  }

  const storage = {
    details: {
      ...shared,
      description: `Each output of each pipeline, with the input it had. ${lag}`,
      query: StorageQuery,
      response: { status: 200, description: 'The outputs with usage in the window.', schema: StorageDetails },
    },
    summary: {
      ...shared,
      description: `What was written, what it would have been without conditions and transforms, and what both cost. ${lag}`,
      query: StorageQuery,
      response: { status: 200, description: 'The types with usage in the window.', schema: StorageSummary },
    },
  } as const;

  return [
    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/metrics',
        operation: 'readOrganizationSeries',
        summary: 'Read a metric of an organization as a time series',
        description: `The sum of its pipelines. ${lag}`,
        params: Org,
        query: SeriesQuery,
        response: { status: 200, description: 'The series.', schema: OrganizationSeries },
      },
      async ({ organization, query }) => {
        const span = spanOf(query, clock.now(), 6 * HOUR);
        const filter = { organizationIds: [organization.id], ...minutesOf(span) };
        const rows = await store.usage.sum(filter, [], span.step / MINUTE);
        const values = valuesOf(span, rows, query.metric).map(presentValue);
        return { status: 200, body: { metric: query.metric, ...presentSeries(organization, span), values } };
      },
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/metrics/storage-types',
        operation: 'readStorageTypeSeries',
        summary: 'Read a metric of an organization as time series by type of storage',
        description: `The type of storage is the type of the output. ${lag}`,
        params: Org,
        query: StorageSeriesQuery,
        response: { status: 200, description: 'One series for each type.', schema: StorageSeries },
      },
      async ({ organization, query }) => {
        const span = spanOf(query, clock.now(), 6 * HOUR);
        const types = typesFor(query.billing_type);
        const filter = outputsOf(organization, query.pipeline_id, types, span);
        const rows = await store.usage.sum(filter, ['type'], span.step / MINUTE);
        const storage_types = [...new Set(rows.map(({ type }) => type))].toSorted().map((type) => {
          const own = rows.filter((row) => row.type === type);
          return { storage_type: type, values: valuesOf(span, own, query.metric).map(presentValue) };
        });
        return { status: 200, body: { metric: query.metric, ...presentSeries(organization, span), storage_types } };
      },
    ),

    organizationRoute(
      {
        ...storage.details,
        path: '/v2/{org}/metrics/storage-types/details',
        operation: 'readStorageTypeDetails',
        summary: 'Read the usage of each output',
        params: Org,
      },
      ({ organization, query }) => details(organization, query),
    ),

    organizationRoute(
      {
        ...storage.summary,
        path: '/v2/{org}/metrics/storage-types/summary',
        operation: 'readStorageTypeSummary',
        summary: 'Read usage and cost by type of storage',
        params: Org,
      },
      ({ organization, query }) => summary(organization, query),
    ),

    organizationRoute(
      {
        ...storage.details,
        path: '/v2/{org}/metrics/storage-types/{storage_type}/details',
        operation: 'readDetailsOfStorageType',
        summary: 'Read the usage of each output of one type',
        params: OrgAndType,
      },
      ({ organization, params, query }) => details(organization, query, params.storage_type),
    ),

    organizationRoute(
      {
        ...storage.summary,
        path: '/v2/{org}/metrics/storage-types/{storage_type}/summary',
        operation: 'readSummaryOfStorageType',
        summary: 'Read usage and cost of one type of storage',
        params: OrgAndType,
      },
      ({ organization, params, query }) => summary(organization, query, params.storage_type),
    ),
  ];
}

const minutesOf = ({ start, end }: Pick<Span, 'start' | 'end'>) => ({
  from: minuteOf(start),
  to: Math.ceil(end / MINUTE),
});

/** @param types undefined: all */
const outputsOf = (
  { id }: Organization,
  pipelineId: string | undefined,
  types: readonly string[] | undefined,
  span: Pick<Span, 'start' | 'end'>,
): UsageFilter => ({
  organizationIds: [id],
  componentType: 'output',
  pipelineId,
  ...(types && { types }),
  ...minutesOf(span),
});

const presentSpan = (organization: Organization, { start, end }: Pick<Span, 'start' | 'end'>) => ({
  organization_id: organization.id,
  organization_name: organization.name,
  start_at: new Date(start).toISOString(),
  end_at: new Date(end).toISOString(),
});

const presentSeries = (organization: Organization, span: Span) => ({
  ...presentSpan(organization, span),
  resolution: formatResolution(span.step),
});

/** Returns the values of a series without gaps, oldest first. */
function valuesOf(
  { start, end, step }: Span,
  rows: readonly (UsageAmounts & { start: number })[],
  metric: Metric,
): SeriesValue[] {
  const found = new Map(rows.map((row) => [row.start * MINUTE, row[columns[metric]]]));
  const values: SeriesValue[] = [];
  for (let time = start; time < end; time += step) values.push({ time, value: found.get(time) ?? 0 });
  return values;
}

const presentCost = ({ cost, egressBytes, unfilteredBytes, pipelines, postFilter, preFilter }: StorageCost) => ({
  ...(cost && { cost_id: cost.id }),
  cost_per_gb: (cost?.nanodollarsPerGb ?? 0) / 1e9,
  num_pipelines: pipelines,
  egress_bytes: egressBytes,
  egress_bytes_gb: egressBytes / GB,
  pre_filter_bytes: unfilteredBytes,
  pre_filter_bytes_gb: unfilteredBytes / GB,
  total_cost_post_filter: inDollars(postFilter),
  total_cost_pre_filter: inDollars(preFilter),
});

function summaryOf(costs: readonly StorageCost[], ingestBytes: number) {
  const stored = costs.reduce((sum, { egressBytes }) => sum + egressBytes, 0);
  const total = (key: 'preFilter' | 'postFilter'): number =>
    inDollars(costs.reduce((sum, cost) => sum + cost[key], 0n));
  return {
    total_org_ingest_bytes: ingestBytes,
    total_org_ingest_gb: ingestBytes / GB,
    total_org_output_storage_bytes: stored,
    total_org_output_storage_gb: stored / GB,
    total_org_cost_pre_filter: total('preFilter'),
    total_org_cost_post_filter: total('postFilter'),
  };
}
