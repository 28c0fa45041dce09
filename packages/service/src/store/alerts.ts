import { and, asc, count, desc, eq, exists, gt, gte, inArray, isNull, lt, max, ne, or, sql } from 'drizzle-orm';
import type { InferSelectModel } from 'drizzle-orm';
import type { Queries } from './database.js';
import { alertEvents as events, alertFeeds, alerts as table, type AlertResource, type Severity } from './tables.js';

/** An incident: a rule whose condition holds, or held, for a resource. */
export type Alert = InferSelectModel<typeof table>;
/** An alert as it was when it fired, was sent again, or was resolved. `sequence` increases with time. */
export type AlertEvent = InferSelectModel<typeof events>;

/** Selects alerts of an organization. Without further properties: all. */
export interface AlertFilter {
  ruleIds?: readonly string[] | undefined;
  severities?: readonly Severity[] | undefined;
  pipelineIds?: readonly string[] | undefined;
  resourceType?: AlertResource | undefined;
  resourceIds?: readonly string[] | undefined;
}

/** The alerts. Only the engine writes them: `alert-writer.ts`. */
export interface Alerts {
  /**
   * Returns the newest alerts that were firing at some time in a span, and the number of all of them.
   * @param span `since` is inclusive, `until` exclusive
   */
  list(
    organizationId: string,
    filter: AlertFilter & { since?: Date | undefined; until?: Date | undefined },
    limit: number,
  ): Promise<{ rows: Alert[]; total: number }>;
  /** Removes up to `limit` alerts that were resolved before `time`. Returns how many it removed. */
  removeResolvedBefore(time: Date, limit: number): Promise<number>;
}

/** What happened to the alerts. */
export interface AlertEvents {
  /** Returns the sequence of the newest event of all organizations; 0 without any. */
  newest(): Promise<number>;
  /** Returns the sequence of the last event of an organization before `time`; 0 without any. */
  before(organizationId: string, time: Date): Promise<number>;
  /** Returns events of an organization after sequence `after`, in order. */
  after(organizationId: string, after: number, limit: number): Promise<AlertEvent[]>;
  /** Returns the sequence after which an input that delivers alerts begins; 0 if it is not stored. */
  feedStart(pipelineId: string, nodeId: string): Promise<number>;
  /**
   * Like `after`, for the records of a pipeline: without the alerts about the pipeline itself, whose
   * delivery could cause the next one.
   * @param firingUntil up to this sequence, only the last event of each alert that is still firing
   */
  forPipeline(
    organizationId: string,
    pipelineId: string,
    cursor: { after: number; firingUntil: number },
    limit: number,
  ): Promise<AlertEvent[]>;
  /** Removes up to `limit` of the oldest events before `time`. Returns how many it removed. */
  removeBefore(time: Date, limit: number): Promise<number>;
}

export function createAlerts(queries: Queries): Alerts {
  return {
    async list(organizationId, { ruleIds, severities, pipelineIds, resourceType, resourceIds, since, until }, limit) {
      const selected = and(
        eq(table.organizationId, organizationId),
        ruleIds && inArray(table.ruleId, [...ruleIds]),
        severities && inArray(table.severity, [...severities]),
        pipelineIds && inArray(table.pipelineId, [...pipelineIds]),
        resourceType && eq(table.resourceType, resourceType),
        resourceIds && inArray(table.resourceId, [...resourceIds]),
        since && or(isNull(table.resolvedAt), gte(table.resolvedAt, since)),
        until && lt(table.createdAt, until),
      );
      const rows = await queries
        .select()
        .from(table)
        .where(selected)
        .orderBy(desc(table.createdAt), desc(table.id))
        .limit(limit);
      const [all] = await queries.select({ total: count() }).from(table).where(selected);
      return { rows, total: all?.total ?? 0 };
    },

    async removeResolvedBefore(time, limit) {
      const oldest = queries
        .select({ id: table.id })
        .from(table)
        .where(lt(table.resolvedAt, time))
        .orderBy(asc(table.resolvedAt))
        .limit(limit);
      const removed = await queries.delete(table).where(inArray(table.id, oldest)).returning({ id: table.id });
      return removed.length;
    },
  };
}

export function createAlertEvents(queries: Queries): AlertEvents {
  return {
    async newest() {
      const [row] = await queries.select({ sequence: max(events.sequence) }).from(events);
      return row?.sequence ?? 0;
    },

    async before(organizationId, time) {
      const [row] = await queries
        .select({ sequence: max(events.sequence) })
        .from(events)
        .where(and(eq(events.organizationId, organizationId), lt(events.occurredAt, time)));
      return row?.sequence ?? 0;
    },

    after: (organizationId, after, limit) =>
      queries
        .select()
        .from(events)
        .where(and(eq(events.organizationId, organizationId), gt(events.sequence, after)))
        .orderBy(asc(events.sequence))
        .limit(limit),

    async feedStart(pipelineId, nodeId) {
      const [row] = await queries
        .select({ beginsAfter: alertFeeds.beginsAfter })
        .from(alertFeeds)
        .where(and(eq(alertFeeds.pipelineId, pipelineId), eq(alertFeeds.nodeId, nodeId)));
      return row?.beginsAfter ?? 0;
    },

    async removeBefore(time, limit) {
      const oldest = queries
        .select({ sequence: events.sequence })
        .from(events)
        .where(lt(events.occurredAt, time))
        .orderBy(asc(events.occurredAt))
        .limit(limit);
      const removed = await queries
        .delete(events)
        .where(inArray(events.sequence, oldest))
        .returning({ sequence: events.sequence });
      return removed.length;
    },

    forPipeline(organizationId, pipelineId, { after, firingUntil }, limit) {
      const later = queries.select({ sequence: sql`later.sequence` }).from(sql`${events} as later`)
        .where(sql`later.alert_id = ${events.alertId} and later.sequence > ${events.sequence}
          and later.sequence <= ${firingUntil}`);
      const firing = queries
        .select({ id: table.id })
        .from(table)
        .where(and(eq(table.id, events.alertId), isNull(table.resolvedAt)));
      return queries
        .select()
        .from(events)
        .where(
          and(
            eq(events.organizationId, organizationId),
            gt(events.sequence, after),
            or(isNull(events.pipelineId), ne(events.pipelineId, pipelineId)),
            or(
              gt(events.sequence, firingUntil),
              and(exists(firing), sql`not exists (${later})`, ne(events.event, 'resolved')),
            ),
          ),
        )
        .orderBy(asc(events.sequence))
        .limit(limit);
    },
  };
}
