import { and, asc, countDistinct, eq, gte, inArray, max, min, or, sql, type SQL } from 'drizzle-orm';
import type { InferSelectModel } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Page, Rows } from './store.js';
import {
  usageCounts as counts,
  usageDays as days,
  usageSeries as series,
  usageWriters as writers,
  type UsageAmounts,
} from './tables.js';

/** A node of a pipeline with the component that it had. */
export type UsageNode = Omit<InferSelectModel<typeof series>, 'id'>;

/** What an organization received and delivered on one day, in bytes. */
export type DaySum = InferSelectModel<typeof days>;

export interface UsageFilter {
  organizationIds: readonly string[];
  /** Also the teams of this organization, existing or not. */
  parentId?: string | undefined;
  pipelineId?: string | undefined;
  componentType?: UsageNode['componentType'];
  /** Types of connectors. */
  types?: readonly string[];
  /** Minutes since 1970: inclusive, and exclusive. */
  from: number;
  to: number;
}

const columns = {
  organizationId: series.organizationId,
  pipelineId: series.pipelineId,
  nodeId: series.nodeId,
  componentType: series.componentType,
  componentId: series.componentId,
  type: series.type,
  inputId: series.inputId,
} as const;

/** What sums can be grouped by. */
export type UsageDimension = keyof typeof columns;

/** The sum of a group. */
export type UsageSum<D extends UsageDimension> = UsageAmounts &
  Pick<UsageNode, D> & {
    /** Start of the interval, in minutes since 1970. */
    start: number;
    /** Number of pipelines. */
    pipelines: number;
  };

/** Length of the intervals of a series: minutes, or calendar months in UTC. */
export type UsageStep = number | 'month';

/** What pipelines have received and delivered, also those that were deleted. */
export interface Usage {
  /**
   * Returns sums by interval and by `by`, ordered by both. Groups without usage are left out. Unless
   * they are by node, ingress is that of inputs and egress that of outputs.
   * @param step absent: one interval, with `start` 0
   */
  sum<D extends UsageDimension>(filter: UsageFilter, by: readonly D[], step?: UsageStep): Promise<UsageSum<D>[]>;
  /** Like `sum`, but only a page of it. */
  page<D extends UsageDimension>(
    filter: UsageFilter,
    by: readonly D[],
    step: UsageStep | undefined,
    page: Page,
  ): Promise<Rows<UsageSum<D>>>;
  /** Returns the sums of organizations by day, in days since 1970 from `from` on. */
  days(organizationIds: readonly string[], from: number): Promise<DaySum[]>;
  /** Returns the first and the last minute with usage, in minutes since 1970; `undefined` without any. */
  minutes(): Promise<{ first: number; last: number } | undefined>;
  /** Returns when usage was stored last. Everything before is in the sums. */
  writtenAt(): Promise<Date | undefined>;
}

const total = (column: (typeof counts)[keyof UsageAmounts], of?: UsageNode['componentType']) =>
  sql<number>`coalesce(sum(${column})${of ? sql` filter (where ${series.componentType} = ${of})` : sql``}, 0)`.mapWith(
    Number,
  );

const amountsOf = (isByNode: boolean) => {
  const [input, output] = isByNode ? [] : (['input', 'output'] as const);
  return {
    ingressBytes: total(counts.ingressBytes, input),
    ingressRecords: total(counts.ingressRecords, input),
    egressBytes: total(counts.egressBytes, output),
    egressRecords: total(counts.egressRecords, output),
    errors: total(counts.errors),
    unfilteredBytes: total(counts.unfilteredBytes),
    unfilteredRecords: total(counts.unfilteredRecords),
  };
};

/** Minutes since 1970 of the first minute of a month in UTC, whatever the time zone of the database. */
const MONTH = sql<number>`(extract(epoch from date_trunc('month', to_timestamp(${counts.minute} * 60.0) at time zone 'UTC')) / 60)::integer`;

/** `step` is a parsed number, written into the text because a group must repeat the expression. */
const startOf = (step: UsageStep | undefined): SQL<number> =>
  step === undefined
    ? sql<number>`0`
    : step === 'month'
      ? MONTH
      : sql<number>`${counts.minute} / ${sql.raw(String(step))} * ${sql.raw(String(step))}`;

/** The columns of a query are those of its dimensions. */
const typed = <D extends UsageDimension>(rows: readonly object[]): UsageSum<D>[] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `groups` selects exactly these
  rows as UsageSum<D>[];

export function createUsage(queries: Queries): Usage {
  function groups(filter: UsageFilter, by: readonly UsageDimension[], step: UsageStep | undefined) {
    const dimensions = by.map((each) => columns[each]);
    const start = startOf(step);
    const grouped = step === undefined ? dimensions : [start, ...dimensions];
    const query = queries
      .select({
        ...Object.fromEntries(by.map((each) => [each, columns[each]])),
        start: sql<number>`${start}`.mapWith(Number).as('start'),
        pipelines: countDistinct(series.pipelineId).as('pipelines'),
        ...amountsOf(by.includes('nodeId')),
      })
      .from(counts)
      .innerJoin(series, eq(series.id, counts.seriesId))
      .where(matching(filter))
      .$dynamic();
    // Without a group, SQL returns a row for nothing.
    return (grouped.length > 0 ? query.groupBy(...grouped) : query.having(sql`count(*) > 0`)).orderBy(
      ...(grouped.length > 0 ? grouped.map((each) => asc(each)) : []),
    );
  }

  return {
    sum: async (filter, by, step) => typed(await groups(filter, by, step)),

    async page(filter, by, step, { limit, offset }) {
      const rows = await groups(filter, by, step).limit(limit).offset(offset);
      const start = startOf(step);
      const keys = [...(step === undefined ? [] : [start]), ...by.map((each) => columns[each])];
      const all = queries
        .select({ one: sql<number>`1`.as('one') })
        .from(counts)
        .innerJoin(series, eq(series.id, counts.seriesId))
        .where(matching(filter))
        .groupBy(...keys)
        .as('all_groups');
      const [found] = await queries.select({ total: sql<number>`count(*)`.mapWith(Number) }).from(all);
      return { rows: typed(rows), total: found?.total ?? 0 };
    },

    days: async (organizationIds, from) =>
      organizationIds.length === 0
        ? []
        : queries
            .select()
            .from(days)
            .where(and(inArray(days.organizationId, [...organizationIds]), gte(days.day, from))),

    async minutes() {
      const [row] = await queries.select({ first: min(counts.minute), last: max(counts.minute) }).from(counts);
      return row?.first == null || row.last === null ? undefined : { first: row.first, last: row.last };
    },

    async writtenAt() {
      const [row] = await queries.select({ at: max(writers.writtenAt) }).from(writers);
      return row?.at ?? undefined;
    },
  };
}

function matching({ organizationIds, parentId, pipelineId, componentType, types, from, to }: UsageFilter) {
  const named = inArray(series.organizationId, [...organizationIds]);
  return and(
    parentId === undefined ? named : or(named, eq(series.parentId, parentId)),
    pipelineId === undefined ? undefined : eq(series.pipelineId, pipelineId),
    componentType && eq(series.componentType, componentType),
    types && inArray(series.type, [...types]),
    // The year 9999 is beyond the integers of the column.
    sql`${counts.minute} >= ${from}::bigint`,
    sql`${counts.minute} < ${to}::bigint`,
  );
}
