import { and, asc, eq, gte, inArray, lt, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import { isLeaseHeld, type EngineRight } from './engine-leases.js';
import type { PipelineCounts } from './store.js';
import { pipelineCounts as table, pipelines, type CountsByNode } from './tables.js';

/** Rows per SQL statement. */
const MAX_ROWS = 500;

export function createPipelineCounts(queries: Queries): PipelineCounts {
  return {
    async before(pipelineIds, time) {
      const found = new Map<string, CountsByNode>();
      for (let from = 0; from < pipelineIds.length; from += MAX_ROWS) {
        // One search in the index per pipeline, however many rows it has.
        const latest = queries
          .select({ nodes: table.nodes })
          .from(table)
          .where(and(eq(table.pipelineId, pipelines.id), lt(table.minute, time)))
          .orderBy(sql`${table.minute} desc`)
          .limit(1);
        const rows = await queries
          .select({ id: pipelines.id, nodes: sql<CountsByNode | null>`(${latest})` })
          .from(pipelines)
          .where(inArray(pipelines.id, pipelineIds.slice(from, from + MAX_ROWS)));
        for (const { id, nodes } of rows) if (nodes) found.set(id, nodes);
      }
      return found;
    },

    between: (pipelineId, start, end) =>
      queries
        .select({ minute: table.minute, nodes: table.nodes })
        .from(table)
        .where(and(eq(table.pipelineId, pipelineId), gte(table.minute, start), lt(table.minute, end)))
        .orderBy(asc(table.minute)),
  };
}

/** Writes of the process that runs the pipelines. */
export interface CountsWriter {
  /**
   * Stores the counts of pipelines at the end of a minute, unless they are the same as the last ones.
   * Has no effect for a pipeline that was removed, and by a process that has lost the lease.
   */
  put(minute: Date, counts: ReadonlyMap<string, CountsByNode>): Promise<void>;
  /**
   * Deletes what is not kept: of each hour that ended before `hourlyBefore`, all rows but the last;
   * all rows before `before`, except for the last one of each pipeline, from which later ones count.
   * @param thinnedBefore `hourlyBefore` of the last call
   */
  thin(limits: { hourlyBefore: Date; before: Date; thinnedBefore: Date | undefined }): Promise<void>;
}

/** @param right what entitles this process to write */
export function createCountsWriter(queries: Queries, right: EngineRight): CountsWriter {
  const later = sql`later.pipeline_id = ${table.pipelineId} and later.minute > ${table.minute}`;
  const endOfHour = sql`to_timestamp((floor(extract(epoch from ${table.minute}) / 3600) + 1) * 3600)`;
  return {
    async put(minute, counts) {
      const all = [...counts];
      for (let from = 0; from < all.length; from += MAX_ROWS) {
        const rows = all
          .slice(from, from + MAX_ROWS)
          .map(([id, nodes]) => sql`(${id}, ${JSON.stringify(nodes)}::jsonb)`);
        const incoming = sql.join(rows, sql`, `);
        const last = sql`select nodes from ${table} as earlier where earlier.pipeline_id = p.id order by earlier.minute desc limit 1`;
        await queries
          .insert(table)
          .select(
            sql`select p.id, ${minute.toISOString()}::timestamptz, incoming.nodes from (values ${incoming}) as incoming (id, nodes)
              join ${pipelines} as p on p.id = incoming.id
              where incoming.nodes is distinct from (${last}) and ${isLeaseHeld(right)} for key share of p`,
          )
          .onConflictDoUpdate({ target: [table.pipelineId, table.minute], set: { nodes: sql`excluded.nodes` } });
      }
    },

    async thin({ hourlyBefore, before, thinnedBefore }) {
      await queries
        .delete(table)
        .where(
          and(
            lt(table.minute, hourlyBefore),
            thinnedBefore && gte(table.minute, thinnedBefore),
            sql`exists (select from ${table} as later where ${later} and later.minute < ${endOfHour})`,
          ),
        );
      await queries
        .delete(table)
        .where(
          and(
            lt(table.minute, before),
            sql`exists (select from ${table} as later where ${later} and later.minute < ${before.toISOString()}::timestamptz)`,
          ),
        );
    },
  };
}
