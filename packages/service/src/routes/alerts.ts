import { isRecord } from '@connector-frame/engine';
import { z } from '@hono/zod-openapi';
import { NewestEvent } from '../alerts/newest-event.js';
import { presentAlert } from '../alerts/present-alert.js';
import type { ServerEvent } from '../http/event-stream.js';
import { lastEventId, type LogStreams } from '../http/log-streams.js';
import { organizationRoute, type Route } from '../http/route.js';
import type { AlertEvent, AlertFilter } from '../store/alerts.js';
import { ALERT_RESOURCES, SEVERITIES } from '../store/tables.js';
import type { RouteContext } from './context.js';
import { Duration, Id, Instant, Org } from './schemas.js';

/** Alerts in a response. */
const MAX_ALERTS = 1_000;
/** Events per query of a stream. */
const PAGE = 200;

/** A list separated by commas. An empty one selects everything. */
const listOf = <T extends string>(item: z.ZodType<T, string>, description: string) =>
  z
    .string()
    .transform((text) => (text === '' ? undefined : text.split(',').map((part) => part.trim())))
    .pipe(z.array(item).max(100).optional())
    .optional()
    .openapi({ type: 'string', description: `${description}, separated by commas.` });

const filters = {
  rule_ids: listOf(Id, 'IDs of alert rules'),
  severities: listOf(z.enum(SEVERITIES), 'Any of `critical`, `high`, `medium`, `low` and `info`'),
  pipeline_ids: listOf(Id, 'IDs of pipelines, including alerts about their nodes'),
  resource_type: z
    .enum(ALERT_RESOURCES)
    .optional()
    .openapi({ description: 'Only alerts about resources of this type.' }),
  resource_ids: listOf(Id, 'IDs of pipelines, nodes or organizations'),
};
const instant = (description: string) =>
  Instant.optional().openapi({ type: 'string', format: 'date-time', description });

const ListQuery = z.object({
  ...filters,
  since: instant('Alerts that were firing then or later. RFC 3339.'),
  until: instant('Alerts that began before. RFC 3339.'),
});
const StreamQuery = z
  .object({
    ...filters,
    since: instant('Begins with what happened at this time. RFC 3339. Default: now.'),
    last: Duration.optional().openapi({
      type: 'string',
      pattern: '^[0-9]{1,6}[smhd]$',
      description: 'Begins with what happened this long ago: `30s`, `5m`, `1h`, `7d`. Not together with `since`.',
    }),
  })
  .refine((query) => query.since === undefined || query.last === undefined, {
    path: ['last'],
    error: 'Use either since or last.',
  });

const UnixTime = z.int().openapi({ description: 'Unix seconds.' });

const AlertResource = z
  .object({
    resource_type: z.enum(ALERT_RESOURCES),
    resource_id: z.string(),
    parent_type: z.literal('pipeline').optional(),
    parent_id: z.string().optional().openapi({ description: 'The pipeline of a node.' }),
  })
  .openapi('AlertResource', { description: 'What the alert is about.' });
const AlertStatus = z
  .object({
    state: z.enum(['FIRING', 'RESOLVED']),
    clearing_started_at: UnixTime.optional().openapi({
      description: 'Since when the condition does not hold. Unix seconds.',
    }),
    resolved_at: UnixTime.optional(),
  })
  .openapi('AlertStatus');

const AlertBody = z
  .object({
    id: z.string().openapi({ description: 'The same for all events of an incident.' }),
    name: z.string().openapi({ description: 'Name of the rule.' }),
    description: z.string(),
    organization_id: z.string(),
    rule_id: z.string(),
    rule_type: z.string(),
    severity: z.enum(SEVERITIES),
    resource: AlertResource,
    status: AlertStatus,
    metadata: z.record(z.string(), z.unknown()).openapi({ description: 'The numbers behind it; by type of the rule.' }),
    created_at: UnixTime.openapi({ description: 'When the incident began. Unix seconds.' }),
    fired_at: UnixTime.openapi({ description: 'When it was sent last as firing. Unix seconds.' }),
  })
  .openapi('Alert');
const AlertList = z
  .object({ alerts: z.array(AlertBody), total: z.int().openapi({ description: 'Number of all that match.' }) })
  .openapi('AlertList');

/** An event of the stream, for the documentation. */
const ALERT_EVENT = `id: 42
event: alert
data: {"event":"fired","id":"6a1cf2c5-3c7e-4a51-8a5e-0f5f0d8f4a10","name":"Errors","severity":"high","status":{"state":"FIRING"},"created_at":1893456000,"fired_at":1893456000}

`;

type Filters = z.output<typeof ListQuery>;

/** Routes that read alerts. */
export function alertRoutes({ store, clock }: RouteContext, streams: LogStreams): Route[] {
  const tag = 'Alerts';
  const access = { permission: 'alert_rule:read', session: 'deny' } as const;
  const newest = new NewestEvent(store.alertEvents);

  /** Yields what happened after an event, then what happens from now on. */
  async function* eventsAfter(
    organizationId: string,
    after: number,
    filter: AlertFilter,
    signal: AbortSignal,
  ): AsyncGenerator<ServerEvent, void, void> {
    let seen = await store.alertEvents.newest();
    for (let position = after; !signal.aborted;) {
      const events = await store.alertEvents.after(organizationId, position, PAGE);
      for (const event of events) {
        position = event.sequence;
        if (selects(filter, event))
          yield { id: String(event.sequence), event: 'alert', data: JSON.stringify(event.alert) };
      }
      if (events.length === 0) seen = await newest.next(seen, signal);
    }
  }

  return [
    organizationRoute(
      {
        method: 'get',
        path: '/v3/{org}/alerts',
        tag,
        operation: 'listAlerts',
        summary: 'List the alerts of an organization',
        description: 'One row per incident, whatever was sent about it. Resolved alerts are kept for ALERT_DAYS days.',
        access,
        params: Org,
        query: ListQuery,
        response: {
          status: 200,
          description: `The latest incidents, at most ${MAX_ALERTS}, newest first.`,
          schema: AlertList,
        },
      },
      async ({ organization, query }) => {
        const { since, until } = query;
        const { rows, total } = await store.alerts.list(
          organization.id,
          { ...filterOf(query), since, until },
          MAX_ALERTS,
        );
        return { status: 200, body: { alerts: rows.map(presentAlert), total } };
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: '/v3/{org}/alerts/stream',
        tag,
        operation: 'followAlerts',
        summary: 'Stream the alerts of an organization',
        description:
          'Server-sent events: each `event: alert` is an alert that fired, was sent again or was resolved (`event` in its JSON object says which). First what happened since `since` or in `last`, then what happens. `Last-Event-ID` resumes after that event on every replica, without a gap or a repeat. Sends a comment every 15 seconds to keep the connection open.',
        access,
        params: Org,
        query: StreamQuery,
        resumes: true,
        response: {
          status: 200,
          description: 'Stream of alerts.',
          schema: z.string(),
          contentType: 'text/event-stream',
          example: ALERT_EVENT,
        },
      },
      async ({ c, principal, organization, query }) => {
        const from = query.last === undefined ? query.since : new Date(clock.now() - query.last);
        const start =
          lastEventId(c) ??
          (from ? await store.alertEvents.before(organization.id, from) : await store.alertEvents.newest());
        return streams.open(c, principal, organization.id, (signal) =>
          eventsAfter(organization.id, start, filterOf(query), signal),
        );
      },
    ),
  ];
}

const filterOf = (query: Omit<Filters, 'since' | 'until'>): AlertFilter => ({
  ruleIds: query.rule_ids,
  severities: query.severities,
  pipelineIds: query.pipeline_ids,
  resourceType: query.resource_type,
  resourceIds: query.resource_ids,
});

const includes = (list: readonly unknown[] | undefined, value: unknown): boolean => list?.includes(value) ?? true;

/** Returns whether a filter selects what happened to an alert. */
function selects(filter: AlertFilter, { alert, pipelineId }: AlertEvent): boolean {
  const { ruleIds, severities, pipelineIds, resourceType, resourceIds } = filter;
  const { rule_id: ruleId, severity, resource } = alert;
  const { resource_type: type, resource_id: id } = isRecord(resource) ? resource : {};
  return (
    includes(ruleIds, ruleId) &&
    includes(severities, severity) &&
    includes(pipelineIds, pipelineId) &&
    (resourceType === undefined || resourceType === type) &&
    includes(resourceIds, id)
  );
}
