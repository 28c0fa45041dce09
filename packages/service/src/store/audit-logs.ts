import {
  and,
  arrayContains,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  lt,
  max,
  min,
  or,
  sql,
  type SQL,
} from 'drizzle-orm';
import type { InferSelectModel } from 'drizzle-orm';
import type { Queries } from './database.js';
import { auditLogs as table, pipelineComponents, secrets, type AuditAction, type AuditResource } from './tables.js';

/** A recorded change of a resource. */
export type AuditLog = Omit<InferSelectModel<typeof table>, 'sequence'>;

/** With its number in the order of storing. */
export type SequencedAuditLog = AuditLog & { sequence: number };

export interface NewAuditLog extends AuditLog {
  /** The changed connector, transform or secret: the pipelines that use it are added to `pipelineIds`. */
  componentId?: string;
}

export interface AuditFilter {
  resourceType?: AuditResource | undefined;
  /** With the type `pipeline`: also the changes of its components while it used them. */
  resourceId?: string | undefined;
  /** ID of a session, or of an API key or a user, which includes their sessions. */
  actorId?: string | undefined;
  action?: AuditAction | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
}

/** Number of changes in one interval of a histogram, by action and type. */
export interface AuditCount {
  index: number;
  action: AuditAction;
  resourceType: AuditResource;
  count: number;
  earliest: Date;
  latest: Date;
}

export interface AuditLogs {
  /** Appends rows in one statement. */
  append(rows: readonly NewAuditLog[]): Promise<void>;
  /** Replaces the `new` of a row whose outcome was not known when it was appended. */
  complete(id: string, value: Record<string, unknown>): Promise<void>;
  /**
   * Returns rows of an organization, newest first.
   * @param after ID of the last row of the previous page
   */
  list(organizationId: string, filter: AuditFilter, limit: number, after?: string): Promise<AuditLog[]>;
  /**
   * Returns rows of an organization after a position and before a time, oldest first.
   * @param after milliseconds since the epoch, and the sequence of the last row in that millisecond
   */
  forward(
    organizationId: string,
    after: { at: number; sequence: number },
    before: Date,
    limit: number,
  ): Promise<SequencedAuditLog[]>;
  /** Counts rows in intervals of equal length from `filter.from` until `filter.to`. */
  count(
    organizationId: string,
    filter: AuditFilter & { from: Date; to: Date },
    intervals: number,
  ): Promise<AuditCount[]>;
  /** Removes up to `limit` of the oldest rows before `time`. Returns how many it removed. */
  removeBefore(time: Date, limit: number): Promise<number>;
}

const ORDER = [desc(table.occurredAt), desc(table.sequence)];
const columns = {
  id: table.id,
  organizationId: table.organizationId,
  occurredAt: table.occurredAt,
  requestId: table.requestId,
  action: table.action,
  resourceType: table.resourceType,
  resourceId: table.resourceId,
  apiKeyId: table.apiKeyId,
  actor: table.actor,
  old: table.old,
  new: table.new,
  pipelineIds: table.pipelineIds,
};

export function createAuditLogs(queries: Queries): AuditLogs {
  return {
    async append(rows) {
      if (rows.length === 0) return;
      await queries.insert(table).values(
        rows.map(({ componentId, ...row }) => ({
          ...row,
          pipelineIds: componentId === undefined ? row.pipelineIds : withUses(row.pipelineIds, componentId),
        })),
      );
    },

    async complete(id, value) {
      await queries.update(table).set({ new: value }).where(eq(table.id, id));
    },

    list(organizationId, filter, limit, after) {
      const last = sql`(select last.occurred_at, last.sequence from ${table} as last
        where last.id = ${after} and last.organization_id = ${organizationId})`;
      return queries
        .select(columns)
        .from(table)
        .where(
          and(
            matching(organizationId, filter),
            after === undefined ? undefined : sql`(${table.occurredAt}, ${table.sequence}) < ${last}`,
          ),
        )
        .orderBy(...ORDER)
        .limit(limit);
    },

    forward(organizationId, { at, sequence }, before, limit) {
      return queries
        .select({ ...columns, sequence: table.sequence })
        .from(table)
        .where(
          and(
            eq(table.organizationId, organizationId),
            gte(table.occurredAt, new Date(at)),
            lt(table.occurredAt, before),
            or(gte(table.occurredAt, new Date(at + 1)), gt(table.sequence, sequence)),
          ),
        )
        .orderBy(asc(table.occurredAt), asc(table.sequence))
        .limit(limit);
    },

    async count(organizationId, filter, intervals) {
      const start = filter.from.getTime();
      const length = filter.to.getTime() - start;
      // Whole milliseconds in exact arithmetic, so that no row is counted beside its interval.
      const offset = sql`((extract(epoch from ${table.occurredAt}) * 1000)::bigint - ${start}::bigint)`;
      const index = sql<number>`(${offset} * ${intervals}::bigint / ${length}::bigint)::int`.as('index');
      const rows = await queries
        .select({
          index,
          action: table.action,
          resourceType: table.resourceType,
          count: count(),
          earliest: min(table.occurredAt),
          latest: max(table.occurredAt),
        })
        .from(table)
        .where(matching(organizationId, filter))
        .groupBy(sql`1`, table.action, table.resourceType)
        .orderBy(sql`1`);
      return rows.flatMap(({ earliest, latest, ...row }) => (earliest && latest ? [{ ...row, earliest, latest }] : []));
    },

    async removeBefore(time, limit) {
      const oldest = queries
        .select({ id: table.id })
        .from(table)
        .where(lt(table.occurredAt, time))
        .orderBy(asc(table.occurredAt))
        .limit(limit)
        // Another replica may be removing the same rows.
        .for('update', { skipLocked: true });
      const removed = await queries.delete(table).where(inArray(table.id, oldest)).returning({ id: table.id });
      return removed.length;
    },
  };
}

/** Returns the pipelines of a row together with those that use the component in this transaction. */
function withUses(pipelineIds: readonly string[], componentId: string): SQL {
  return sql`array(
    select ${pipelineComponents.pipelineId} from ${pipelineComponents}
      where ${pipelineComponents.connectorId} = ${componentId} or ${pipelineComponents.transformId} = ${componentId}
        or ${pipelineComponents.connectorId} in (
          select ${secrets.connectorId} from ${secrets} where ${secrets.secretId} = ${componentId})
    union select jsonb_array_elements_text(${JSON.stringify(pipelineIds)}::jsonb))`;
}

function matching(organizationId: string, filter: AuditFilter): SQL | undefined {
  const { resourceType, resourceId, actorId, action, from, to } = filter;
  const isMerged = resourceType === 'pipeline' && resourceId !== undefined;
  return and(
    eq(table.organizationId, organizationId),
    isMerged
      ? arrayContains(table.pipelineIds, [resourceId])
      : and(
          resourceType && eq(table.resourceType, resourceType),
          resourceId === undefined ? undefined : eq(table.resourceId, resourceId),
        ),
    actorId === undefined
      ? undefined
      : or(eq(table.apiKeyId, actorId), sql`${actorId} in (${table.actor}->>'id', ${table.actor}->>'user_id')`),
    action && eq(table.action, action),
    from && gte(table.occurredAt, from),
    to && lt(table.occurredAt, to),
  );
}
