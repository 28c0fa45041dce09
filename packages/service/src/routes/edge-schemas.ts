import { z } from '@hono/zod-openapi';
import type { Fields, SchemaState } from '@connector-frame/engine';
import { recordEffect } from '../audit/record-effect.js';
import { invalidRequest, notFound } from '../api-error.js';
import { organizationRoute, type OrganizationCall, type Route } from '../http/route.js';
import type { PipelineSchemas } from '../pipelines/engine.js';
import { isDetected } from '../pipelines/schema-detection.js';
import type { Pipeline } from '../store/store.js';
import type { StoredEdge } from '../store/tables.js';
import type { RouteContext } from './context.js';
import { NOT_RUNNING, unavailable, whileRunning } from './pipeline-delivery.js';
import { Id, OrgAndId } from './schemas.js';

const OrgIdAndEdge = OrgAndId.extend({ edge: Id });
type EdgeCall = OrganizationCall<z.output<typeof OrgIdAndEdge>, unknown, unknown>;

const Seconds = z.int().openapi({ description: 'Seconds since the epoch.' });
const FieldStates = z
  .record(
    z.string(),
    z
      .object({
        types: z.record(
          z.string(),
          z
            .object({ count: z.int(), first_seen: Seconds, last_seen: Seconds })
            .openapi('TypeState', { description: 'How often the field had this type.' }),
        ),
      })
      .openapi('FieldState', { description: 'The types of a field: JSON types, as `string` or `null`.' }),
  )
  .openapi({ description: 'Fields by path: `user.name`, and `groups[]` for the items of a list.' });

const Timestamp = z.iso.datetime().openapi({ description: 'RFC 3339.' });
const SchemaBody = z
  .object({
    pipeline_id: z.string(),
    edge_id: z.string(),
    mode: z.enum(['learning', 'detecting']).openapi({
      description: '`learning`: what is new is added. `detecting`: what is new is also an event.',
    }),
    learning_start: Timestamp.optional().openapi({ description: 'Absent while no record has passed.' }),
    updated_at: Timestamp.optional().openapi({ description: 'When a record was observed last.' }),
    total_records_observed: z.int().openapi({ description: 'At most 1,000 records a second are observed.' }),
    truncated: z.boolean().openapi({ description: 'Fields were left out, because there are more than 1,000.' }),
    schema: FieldStates,
  })
  .openapi('EdgeSchema');

const EventBody = z
  .object({
    id: z.string(),
    edge_id: z.string(),
    created_at: Timestamp,
    event_tags: z.array(z.enum(['field_added', 'type_added', 'field_removed', 'learning_started', 'graduated'])),
    schema: FieldStates.openapi({ description: 'The fields that changed; at most 100.' }),
    field_count: z.int().openapi({ description: 'Number of fields that changed.' }),
  })
  .openapi('EdgeSchemaEvent');

/** Routes that show which fields the records on an edge have, and what has changed. */
export function edgeSchemaRoutes(context: RouteContext): Route[] {
  const { store, engine } = context;
  const tag = 'Pipelines';
  // Names of fields come from the records.
  const read = { permission: 'pipeline:data:read', session: 'deny' } as const;
  const change = {
    method: 'post',
    tag,
    access: { permission: 'pipeline:write', session: 'deny' },
    params: OrgIdAndEdge,
    response: { status: 204, description: 'It is in effect.' },
    errorStatuses: { 400: 'The schema of this edge is not detected; or the request is malformed.', 503: NOT_RUNNING },
  } as const;

  async function findEdge({ organization, params }: EdgeCall): Promise<{ pipeline: Pipeline; edge: StoredEdge }> {
    const pipeline = await store.pipelines.get(organization.id, params.id);
    const edge = pipeline?.edges.find(({ id }) => id === params.edge);
    if (!pipeline || !edge) throw notFound();
    return { pipeline, edge };
  }

  async function changeWith(
    call: EdgeCall,
    mode: string,
    apply: (schemas: PipelineSchemas, edgeId: string) => boolean | Promise<boolean>,
  ) {
    const { pipeline, edge } = await findEdge(call);
    if (!isDetected(edge))
      throw invalidRequest('The schema of this edge is not detected. Set schema_detection_spec.enabled first.');
    const schemas = engine.schemas(pipeline.id);
    // The engine may not have applied a change of the pipeline yet.
    if (!schemas || (!schemas.isRemote && !schemas.state(edge.id))) throw unavailable();
    const now = new Date(context.clock.now());
    const selection = { edge_id: edge.id, schema: mode };
    const effect = { organizationId: pipeline.organizationId, pipelineId: pipeline.id, selection } as const;
    await recordEffect(store.auditLogs, call.author, now, { ...effect, action: 'update' }, async () => {
      if (!(await whileRunning(async () => apply(schemas, edge.id)))) throw unavailable();
      return {};
    });
    return { status: 204 } as const;
  }

  return [
    organizationRoute(
      {
        method: 'get',
        path: '/v3/{org}/pipelines/{id}/edges/{edge}/schema-detection',
        tag,
        operation: 'readEdgeSchema',
        summary: 'Read which fields the records on an edge have',
        description:
          'Names and types of fields, with counts; no values. In a process that does not run the pipeline, up to a minute old. After a crash, up to a minute of counts is missing.',
        access: read,
        params: OrgIdAndEdge,
        response: { status: 200, description: 'The schema.', schema: SchemaBody },
      },
      async (call) => {
        const { pipeline, edge } = await findEdge(call);
        const live = engine.schemas(pipeline.id)?.state(edge.id);
        const state = live ?? (await store.edgeSchemas.get(pipeline.id, edge.id));
        if (!state && !isDetected(edge)) throw notFound();
        return { status: 200, body: present(pipeline.id, edge.id, state) };
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: '/v3/{org}/pipelines/{id}/edges/{edge}/schema-detection/events',
        tag,
        operation: 'listEdgeSchemaEvents',
        summary: 'List the changes of the schema of an edge',
        description: 'The last 100. Changes within a minute are one event. An event appears within a few seconds.',
        access: read,
        params: OrgIdAndEdge,
        response: { status: 200, description: 'Newest first.', schema: z.array(EventBody) },
      },
      async (call) => {
        const { pipeline, edge } = await findEdge(call);
        const events = await store.edgeSchemas.events(pipeline.id, edge.id);
        const body = events.map(({ id, occurredAt, tags, fields, fieldCount }) => ({
          id,
          edge_id: edge.id,
          created_at: occurredAt.toISOString(),
          event_tags: [...tags],
          schema: presentFields(fields),
          field_count: fieldCount,
        }));
        return { status: 200, body };
      },
    ),

    organizationRoute(
      {
        ...change,
        path: '/v2/{org}/pipelines/{id}/edges/{edge}/schema/graduate',
        operation: 'graduateEdgeSchema',
        summary: 'End the learning of the schema of an edge',
        description: 'From now on, what is new is an event. Without this call, learning ends after 24 hours.',
      },
      (call) => changeWith(call, 'detecting', (schemas, id) => schemas.graduate(id)),
    ),

    organizationRoute(
      {
        ...change,
        path: '/v2/{org}/pipelines/{id}/edges/{edge}/schema/reset',
        operation: 'resetEdgeSchema',
        summary: 'Forget the schema of an edge, and learn it again',
        description: 'For when the source has changed on purpose. Events that were listed are kept.',
      },
      (call) => changeWith(call, 'learning', (schemas, id) => schemas.reset(id)),
    ),
  ];
}

/** @param state absent: nothing was observed yet */
const present = (pipelineId: string, edgeId: string, state: SchemaState | undefined): z.output<typeof SchemaBody> => ({
  pipeline_id: pipelineId,
  edge_id: edgeId,
  mode: state?.mode ?? 'learning',
  ...(state && {
    learning_start: new Date(state.learningStart).toISOString(),
    updated_at: new Date(state.updatedAt).toISOString(),
  }),
  total_records_observed: state?.records ?? 0,
  truncated: state?.truncated ?? false,
  schema: presentFields(state?.fields ?? {}),
});

const seconds = (ms: number): number => Math.floor(ms / 1_000);

const presentFields = (fields: Fields): z.output<typeof FieldStates> =>
  Object.fromEntries(
    Object.entries(fields).map(([path, { types }]) => [
      path,
      {
        types: Object.fromEntries(
          Object.entries(types).map(([type, { count, firstSeen, lastSeen }]) => [
            type,
            { count, first_seen: seconds(firstSeen), last_seen: seconds(lastSeen) },
          ]),
        ),
      },
    ]),
  );
