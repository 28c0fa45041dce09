import { randomUUID } from 'node:crypto';
import type { Fields, SchemaState, SchemaTag, SchemaUpdate } from '@connector-frame/engine';
import { and, desc, eq, inArray, not, sql } from 'drizzle-orm';
import type { Database, Queries } from './database.js';
import { isLeaseHeld, type EngineRight } from './engine-leases.js';
import { edgeSchemaEvents as events, edgeSchemas as table, pipelines } from './tables.js';

/** A change of the schema of the records on an edge. */
export interface EdgeSchemaEvent {
  id: string;
  occurredAt: Date;
  tags: readonly SchemaTag[];
  fields: Fields;
  /** Number of fields that changed; `fields` may have fewer. */
  fieldCount: number;
}

/** What was observed on the edges of pipelines, as it was stored last. */
export interface EdgeSchemaReader {
  get(pipelineId: string, edgeId: string): Promise<SchemaState | undefined>;
  /** Returns the last events of an edge, newest first. */
  events(pipelineId: string, edgeId: string): Promise<EdgeSchemaEvent[]>;
}

/** Events that are kept of each edge. */
export const MAX_EVENTS = 100;

export function createEdgeSchemas(queries: Queries): EdgeSchemaReader {
  return {
    async get(pipelineId, edgeId) {
      const [row] = await queries
        .select({ state: table.state })
        .from(table)
        .where(and(eq(table.pipelineId, pipelineId), eq(table.edgeId, edgeId)));
      return row && stateIn(row.state);
    },

    async events(pipelineId, edgeId) {
      const rows = await queries
        .select()
        .from(events)
        .where(and(eq(events.pipelineId, pipelineId), eq(events.edgeId, edgeId)))
        .orderBy(desc(events.occurredAt), desc(events.id))
        .limit(MAX_EVENTS);
      return rows.map(({ id, occurredAt, tags, fields, fieldCount }) => ({
        id,
        occurredAt,
        tags,
        fields: fieldsIn(fields),
        fieldCount,
      }));
    },
  };
}

/** Access of the process that runs the pipelines. */
export interface EdgeSchemaWriter {
  /**
   * Returns the stored states of these edges of a pipeline, by edge id. Deletes those of edges that
   * the pipeline no longer has.
   * @param all the ids of all edges of the pipeline
   */
  load(pipelineId: string, edgeIds: readonly string[], all: readonly string[]): Promise<Map<string, SchemaState>>;
  /**
   * Stores states and events of edges, by edge id. Has no effect for a pipeline that was removed, and
   * by a process that has lost the lease.
   */
  put(pipelineId: string, updates: ReadonlyMap<string, SchemaUpdate>): Promise<void>;
}

/** @param right what entitles this process to write */
export function createEdgeSchemaWriter(database: Database, right: EngineRight): EdgeSchemaWriter {
  return {
    load: (pipelineId, edgeIds, all) =>
      database.transaction(async (queries) => {
        for (const each of [table, events])
          await queries
            .delete(each)
            .where(and(eq(each.pipelineId, pipelineId), not(inArray(each.edgeId, [...all])), isLeaseHeld(right)));
        const rows = await queries
          .select()
          .from(table)
          .where(and(eq(table.pipelineId, pipelineId), inArray(table.edgeId, [...edgeIds])));
        return new Map(rows.map(({ edgeId, state }) => [edgeId, stateIn(state)]));
      }),

    put: (pipelineId, updates) =>
      database.transaction(async (queries) => {
        const [held] = await queries
          .select({ id: pipelines.id })
          .from(pipelines)
          .where(and(eq(pipelines.id, pipelineId), isLeaseHeld(right)))
          .for('key share');
        if (!held) return;
        for (const [edgeId, { state, event }] of updates) {
          const row = { pipelineId, edgeId, state: JSON.stringify(state) };
          await queries
            .insert(table)
            .values(row)
            .onConflictDoUpdate({ target: [table.pipelineId, table.edgeId], set: { state: row.state } });
          if (!event) continue;
          await queries.insert(events).values({
            id: randomUUID(),
            pipelineId,
            edgeId,
            occurredAt: new Date(event.at),
            tags: [...event.tags],
            fields: JSON.stringify(event.fields),
            fieldCount: event.count,
          });
          const ofEdge = and(eq(events.pipelineId, pipelineId), eq(events.edgeId, edgeId));
          const kept = queries
            .select({ id: events.id })
            .from(events)
            .where(ofEdge)
            .orderBy(desc(events.occurredAt), desc(events.id))
            .limit(MAX_EVENTS);
          await queries.delete(events).where(and(ofEdge, sql`${events.id} not in ${kept}`));
        }
      }),
  };
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `put` writes it
const stateIn = (text: string): SchemaState => JSON.parse(text) as SchemaState;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `put` writes it
const fieldsIn = (text: string): Fields => JSON.parse(text) as Fields;
