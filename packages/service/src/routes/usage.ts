import { z } from '@hono/zod-openapi';
import { invalidRequest } from '../api-error.js';
import { newApiHeaders } from '../http/respond.js';
import { organizationRoute, type Route } from '../http/route.js';
import { Amount } from '../pipelines/state-body.js';
import type { UsageDimension, UsageFilter, UsageStep, UsageSum } from '../store/usage.js';
import type { Organization } from '../store/store.js';
import { DAY, HOUR, MINUTE, minuteOf, periodOf } from '../usage/periods.js';
import type { RouteContext } from './context.js';
import { Id, Org, PageQuery, Pagination, WindowQuery } from './schemas.js';

const RESOLUTIONS = { hour: HOUR / MINUTE, day: DAY / MINUTE, month: 'month', total: undefined } as const;
/** How much of the window is read at once, in minutes, so that an export needs little memory. */
const CHUNKS: Readonly<Record<string, number>> = { hour: DAY / MINUTE, day: (31 * DAY) / MINUTE };

type Resolution = keyof typeof RESOLUTIONS;
type Group = 'organization' | 'pipeline' | 'node';

const dimensions = {
  organization: ['organizationId'],
  pipeline: ['organizationId', 'pipelineId'],
  node: ['organizationId', 'pipelineId', 'nodeId', 'componentType', 'type', 'componentId'],
} as const satisfies Record<Group, readonly UsageDimension[]>;

type Row = UsageSum<'organizationId'> & Partial<UsageSum<(typeof dimensions)['node'][number]>>;

const UsageQuery = WindowQuery.extend({
  start: WindowQuery.shape.start.openapi({ description: 'RFC 3339; rounded down to the hour. Default: this month.' }),
  end: WindowQuery.shape.end.openapi({ description: 'RFC 3339; rounded up to the hour. Default: now.' }),
  resolution: z
    .enum(['hour', 'day', 'month', 'total'])
    .default('day')
    .openapi({ description: 'Length of an interval, in UTC. `total`: the whole window.' }),
  group_by: z
    .enum(['organization', 'pipeline', 'node'])
    .default('pipeline')
    .openapi({ description: 'What a row is the sum of.' }),
  include_teams: z
    .enum(['true', 'false'])
    .default('false')
    .openapi({ description: 'Also the teams of the organization, existing or not.' }),
  pipeline_id: Id.optional().openapi({ description: 'Only this pipeline, which may be deleted.' }),
});

const Usage = z
  .object({
    start: z.iso.datetime().openapi({ description: 'Start of the interval. RFC 3339.' }),
    organization_id: z.string(),
    pipeline_id: z.string().optional(),
    node_id: z.string().optional(),
    component_type: z.string().optional(),
    component_id: z.string().optional().openapi({ description: 'The connector or transform that the node had.' }),
    type: z.string().optional().openapi({ description: 'Type of the connector; empty for a transform.' }),
    ingress: Amount.openapi({ description: 'Received: of a pipeline, by its inputs.' }),
    egress: Amount.openapi({ description: 'Delivered: of a pipeline, by its outputs.' }),
    unfiltered: Amount.openapi({
      description: 'Records of the input that outputs have handled, before conditions and transforms.',
    }),
    errors: z.int().openapi({ description: 'Records that failed permanently.' }),
  })
  .openapi('Usage');

const UsageList = z
  .object({
    organization_id: z.string(),
    complete_until: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'Everything until then is in `usage`. Null before anything was counted. RFC 3339.' }),
    usage: z.array(Usage),
    pagination: Pagination,
  })
  .openapi('UsageList');

/** Columns of the CSV. Their values contain neither commas nor quotes. */
const HEADER = [
  'start',
  'organization_id',
  'pipeline_id',
  'node_id',
  'component_type',
  'component_id',
  'type',
  'ingress_bytes',
  'ingress_records',
  'egress_bytes',
  'egress_records',
  'unfiltered_bytes',
  'unfiltered_records',
  'errors',
];

const csvExample = [
  HEADER.join(),
  '2030-01-01T00:00:00.000Z,9d0c0a2e,41f0b7f2,,,,,1048576,1024,524288,512,1048576,1024,0',
  '',
].join('\r\n');

/** Routes that export what an organization and its teams have received and delivered. */
export function usageRoutes({ store, clock }: RouteContext): Route[] {
  const shared = {
    method: 'get',
    tag: 'Usage',
    access: { permission: 'usage:read', session: 'deny' },
    params: Org,
  } as const;

  function filterOf(organization: Organization, query: z.output<typeof UsageQuery>): UsageFilter {
    const now = clock.now();
    const end = query.end?.getTime() ?? now;
    const start = query.start?.getTime() ?? periodOf('month', Math.min(now, end - 1)).start;
    if (start >= end)
      throw invalidRequest('start must be before end.', { issues: [{ path: '/start', message: 'Not before end.' }] });
    return {
      organizationIds: [organization.id],
      ...(query.include_teams === 'true' && { parentId: organization.id }),
      pipelineId: query.pipeline_id,
      from: minuteOf(Math.floor(start / HOUR) * HOUR),
      to: minuteOf(Math.ceil(end / HOUR) * HOUR),
    };
  }

  /** Yields all rows as lines of CSV (RFC 4180), in the order of time. */
  async function* csvOf(filter: UsageFilter, resolution: Resolution, group: Group): AsyncGenerator<string, void, void> {
    yield `${HEADER.join()}\r\n`;
    const chunk = CHUNKS[resolution] ?? Infinity;
    const { first, last } = (await store.usage.minutes()) ?? { first: 0, last: -1 };
    const end = Math.min(filter.to, last + 1);
    for (let from = Math.max(filter.from, first); from < end;) {
      // At the start of an interval, so that none is in two chunks.
      const to = Math.min(end, Math.floor(from / chunk + 1) * chunk);
      const rows: Row[] = await store.usage.sum({ ...filter, from, to }, dimensions[group], RESOLUTIONS[resolution]);
      if (rows.length > 0) yield rows.map((row) => lineOf(row, filter.from)).join('');
      from = to;
    }
  }

  return [
    organizationRoute(
      {
        ...shared,
        path: '/v3/{org}/usage',
        operation: 'listUsage',
        summary: 'List the usage of an organization and its teams',
        description:
          'What pipelines have received and delivered, also those that were deleted. Kept for USAGE_DAYS days. Everything until `complete_until` is in it.',
        query: PageQuery.extend(UsageQuery.shape),
        response: {
          status: 200,
          description: 'In the order of time, then of the IDs. Intervals without usage are left out.',
          schema: UsageList,
        },
      },
      async ({ organization, query }) => {
        const filter = filterOf(organization, query);
        const page = { limit: query.limit, offset: query.offset };
        const step: UsageStep | undefined = RESOLUTIONS[query.resolution];
        // Before the rows: they may contain more, never less.
        const writtenAt = await store.usage.writtenAt();
        const { rows, total } = await store.usage.page(filter, dimensions[query.group_by], step, page);
        return {
          status: 200,
          body: {
            organization_id: organization.id,
            complete_until: writtenAt?.toISOString() ?? null,
            usage: rows.map((row) => present(row, filter.from)),
            pagination: { ...page, total },
          },
        };
      },
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v3/{org}/usage/csv',
        operation: 'exportUsage',
        summary: 'Export the usage of an organization and its teams as CSV',
        description: 'All rows of `GET /v3/{org}/usage`.',
        query: UsageQuery,
        response: {
          status: 200,
          description: 'A header, then one line for each row. RFC 4180.',
          schema: z.string(),
          contentType: 'text/csv',
          headers: { 'Content-Disposition': 'The name of the file.' },
          example: csvExample,
        },
      },
      ({ organization, query }) => {
        const lines = csvOf(filterOf(organization, query), query.resolution, query.group_by);
        const encoder = new TextEncoder();
        const body = new ReadableStream<Uint8Array>({
          async pull(controller) {
            const { done, value } = await lines.next();
            if (done) controller.close();
            else controller.enqueue(encoder.encode(value));
          },
          cancel: async () => void (await lines.return()),
        });
        const headers = {
          ...newApiHeaders(),
          'Content-Type': 'text/csv; charset=utf-8; header=present',
          'Content-Disposition': 'attachment; filename="usage.csv"',
        };
        return new Response(body, { headers });
      },
    ),
  ];
}

/** @param first start of the window, in minutes, which is the start of a row without an interval */
const startOf = ({ start }: Row, first: number): string =>
  new Date((start === 0 ? first : start) * MINUTE).toISOString();

const present = (row: Row, first: number): z.output<typeof Usage> => ({
  start: startOf(row, first),
  organization_id: row.organizationId,
  ...(row.pipelineId !== undefined && { pipeline_id: row.pipelineId }),
  ...(row.nodeId !== undefined && {
    node_id: row.nodeId,
    component_type: row.componentType,
    component_id: row.componentId,
    type: row.type,
  }),
  ingress: { bytes: row.ingressBytes, records: row.ingressRecords },
  egress: { bytes: row.egressBytes, records: row.egressRecords },
  unfiltered: { bytes: row.unfilteredBytes, records: row.unfilteredRecords },
  errors: row.errors,
});

function lineOf(row: Row, first: number): string {
  const { ingress, egress, unfiltered, errors, ...ids } = present(row, first);
  const cells = [
    ids.start,
    ids.organization_id,
    ids.pipeline_id ?? '',
    ids.node_id ?? '',
    ids.component_type ?? '',
    ids.component_id ?? '',
    ids.type ?? '',
    ...[ingress, egress, unfiltered].flatMap(({ bytes, records }) => [bytes, records]),
    errors,
  ];
  return `${cells.join()}\r\n`;
}
