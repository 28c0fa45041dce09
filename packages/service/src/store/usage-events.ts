import { and, asc, eq, lte, sql } from 'drizzle-orm';
import type { InferSelectModel } from 'drizzle-orm';
import type { Queries } from './database.js';
import { usageEvents as table, type NodeUsage } from './tables.js';
import { createUsage } from './usage.js';

/** An hour of a pipeline that is to be sent to the webhook. */
export type UsageEvent = InferSelectModel<typeof table>;

/** The hours of pipelines that the webhook has not acknowledged. */
export interface UsageEvents {
  /** Returns events that are due, those that wait longest first. */
  due(now: Date, limit: number): Promise<UsageEvent[]>;
  /** Returns the present sums of an hour, by node. */
  sums(event: UsageEvent): Promise<NodeUsage[]>;
  /** Stores what the next revision sends, before its first attempt. */
  prepare(event: UsageEvent, sums: readonly NodeUsage[]): Promise<void>;
  /** Notes that the prepared revision was acknowledged. The event stays due, to be compared once more. */
  acknowledge(event: UsageEvent): Promise<void>;
  /** Notes that an attempt has failed. */
  postpone(event: UsageEvent, nextAttemptAt: Date): Promise<void>;
  /** Notes that the webhook has everything, unless something was added since the event was read. */
  finish(event: UsageEvent): Promise<void>;
}

/** Minutes. */
const HOUR = 60;

const one = ({ pipelineId, hour }: UsageEvent) => and(eq(table.pipelineId, pipelineId), eq(table.hour, hour));

export function createUsageEvents(queries: Queries): UsageEvents {
  const usage = createUsage(queries);
  return {
    due: (now, limit) =>
      queries
        .select()
        .from(table)
        .where(lte(table.nextAttemptAt, now))
        .orderBy(asc(table.nextAttemptAt), asc(table.hour), asc(table.pipelineId))
        .limit(limit),

    async sums({ organizationId, pipelineId, hour }) {
      const filter = { organizationIds: [organizationId], pipelineId, from: hour * HOUR, to: (hour + 1) * HOUR };
      const rows = await usage.sum(filter, ['nodeId', 'componentType', 'componentId', 'type']);
      return rows.map(({ start: _start, pipelines: _pipelines, ...sums }) => sums);
    },

    async prepare(event, sums) {
      await queries.update(table).set({ sending: sums }).where(one(event));
    },

    async acknowledge(event) {
      await queries
        .update(table)
        .set({ revision: sql`${table.revision} + 1`, sent: sql`${table.sending}`, sending: null, attempts: 0 })
        .where(and(one(event), eq(table.revision, event.revision)));
    },

    async postpone(event, nextAttemptAt) {
      await queries
        .update(table)
        .set({ attempts: sql`${table.attempts} + 1`, nextAttemptAt })
        .where(one(event));
    },

    async finish(event) {
      await queries
        .update(table)
        .set({ nextAttemptAt: null })
        .where(and(one(event), eq(table.changes, event.changes)));
    },
  };
}
