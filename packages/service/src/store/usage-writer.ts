import { and, eq, gte, inArray, lt, sql } from 'drizzle-orm';
import type { Database, Queries } from './database.js';
import {
  usageCounts as counts,
  usageDays as days,
  usageEvents as events,
  usageSeries as series,
  usageWriters as writers,
  type UsageAmounts,
} from './tables.js';
import type { DaySum, UsageNode } from './usage.js';

/** Amounts of a node in one minute since 1970. */
export interface UsageRow {
  node: UsageNode;
  minute: number;
  amounts: UsageAmounts;
}

/** Amounts to add, once. */
export interface UsageBatch {
  /** The engine that has counted them. */
  holder: string;
  /** Increases with each batch of a holder. */
  sequence: number;
  /** Everything that was counted until then is in this batch or in an earlier one. */
  at: Date;
  rows: readonly UsageRow[];
  /** When an hour, in hours since 1970, is due to be sent to the webhook. Absent: there is none. */
  dueAt?: (hour: number) => Date;
}

/** Writes of the process that runs the pipelines. */
export interface UsageWriter {
  /** Returns the sequence of the last batch of a holder that was added, or 0. */
  lastSequence(holder: string): Promise<number>;
  /**
   * Adds a batch in one transaction, unless it or a later one of the same holder was added before.
   * Other engines may add theirs at the same time: all of them have counted something else.
   * @returns the sums by day that it contributes to, as they are now
   */
  add(batch: UsageBatch): Promise<DaySum[]>;
  /** Notes that a holder runs pipelines from now on: an export needs the folder of the last one. */
  begin(holder: string, at: Date): Promise<void>;
  /** Notes that nothing was counted since the last batch. */
  touch(holder: string, at: Date): Promise<void>;
  /** Moves the amounts of minutes before `minute` to the first minute of their hours. */
  moveToHours(minute: number): Promise<void>;
  /** Deletes all usage before `minute`. */
  removeBefore(minute: number): Promise<void>;
}

/** Rows per SQL statement. */
const MAX_ROWS = 500;
const HOUR = 60;
const DAY = 24 * HOUR;

const AMOUNTS = {
  ingressBytes: counts.ingressBytes,
  ingressRecords: counts.ingressRecords,
  egressBytes: counts.egressBytes,
  egressRecords: counts.egressRecords,
  errors: counts.errors,
  unfilteredBytes: counts.unfilteredBytes,
  unfilteredRecords: counts.unfilteredRecords,
} as const satisfies Record<keyof UsageAmounts, unknown>;

const added = Object.fromEntries(
  Object.entries(AMOUNTS).map(([key, column]) => [key, sql`${column} + ${sql.raw(`excluded.${column.name}`)}`]),
);

export function createUsageWriter(database: Database): UsageWriter {
  const { queries } = database;
  /** IDs of series by their keys. Rows of series are never deleted. */
  const known = new Map<string, number>();

  /** Returns the ids of series, and creates those that are missing. */
  async function idsOf(tx: Queries, nodes: readonly UsageNode[]): Promise<Map<string, number>> {
    const ids = new Map<string, number>();
    const missing = new Map<string, UsageNode>();
    for (const node of nodes) {
      const key = keyOf(node);
      const id = known.get(key);
      if (id === undefined) missing.set(key, node);
      else ids.set(key, id);
    }
    const rest = [...missing.values()];
    for (let from = 0; from < rest.length; from += MAX_ROWS) {
      const some = rest.slice(from, from + MAX_ROWS);
      const pipelineIds = [...new Set(some.map(({ pipelineId }) => pipelineId))];
      const read = async (): Promise<void> => {
        for (const row of await tx.select().from(series).where(inArray(series.pipelineId, pipelineIds)))
          ids.set(keyOf(row), row.id);
      };
      await read();
      const absent = some.filter((node) => !ids.has(keyOf(node)));
      if (absent.length === 0) continue;
      await tx.insert(series).values(absent).onConflictDoNothing();
      await read();
    }
    return ids;
  }

  return {
    async lastSequence(holder) {
      const [row] = await queries
        .select({ sequence: writers.sequence })
        .from(writers)
        .where(eq(writers.holder, holder));
      return row?.sequence ?? 0;
    },

    async add(batch) {
      const { holder, sequence, at: writtenAt, rows } = batch;
      let created: ReadonlyMap<string, number> = new Map();
      const stored = await database.transaction(async (tx) => {
        const claimed = await tx
          .insert(writers)
          .values({ holder, sequence, writtenAt })
          .onConflictDoUpdate({
            target: writers.holder,
            set: { sequence, writtenAt },
            setWhere: lt(writers.sequence, sequence),
          })
          .returning({ holder: writers.holder });
        const sums = daySumsOf(rows);
        if (claimed.length === 0) {
          const [oldest] = sums.map(({ day }) => day).toSorted((a, b) => a - b);
          const ids = [...new Set(sums.map(({ organizationId }) => organizationId))];
          return oldest === undefined
            ? []
            : tx
                .select()
                .from(days)
                .where(and(inArray(days.organizationId, ids), gte(days.day, oldest)));
        }
        created = await idsOf(
          tx,
          rows.map(({ node }) => node),
        );
        await addCounts(tx, rows, created);
        await addEvents(tx, batch);
        return addDays(tx, sums);
      });
      // Not before the commit: a rollback removes what was created.
      for (const [key, id] of created) known.set(key, id);
      return stored;
    },

    async begin(holder, at) {
      await queries
        .insert(writers)
        .values({ holder, sequence: 0, writtenAt: at })
        .onConflictDoUpdate({ target: writers.holder, set: { writtenAt: at } });
    },

    async touch(holder, at) {
      await queries.update(writers).set({ writtenAt: at }).where(eq(writers.holder, holder));
    },

    async moveToHours(minute) {
      for (;;) {
        // An hour at a time, so that no statement takes long.
        const first = await oldest(and(lt(counts.minute, minute), sql`${counts.minute} % 60 <> 0`));
        if (first === undefined) return;
        const hour = Math.floor(first / HOUR) * HOUR;
        const end = Math.min(hour + HOUR, minute);
        const names = Object.values(AMOUNTS).map(({ name }) => sql.identifier(name));
        await queries.execute(sql`
          with moved as (
            delete from ${counts} where ${counts.minute} > ${hour} and ${counts.minute} < ${end} returning *
          )
          insert into ${counts} (series_id, minute, ${sql.join(names, sql`, `)})
          select series_id, ${hour}::integer, ${sql.join(
            names.map((name) => sql`sum(${name})::bigint`),
            sql`, `,
          )} from moved group by series_id order by series_id
          on conflict (series_id, minute) do update set ${sql.join(
            names.map((name) => sql`${name} = ${counts}.${name} + excluded.${name}`),
            sql`, `,
          )}`);
      }
    },

    async removeBefore(minute) {
      for (;;) {
        const first = await oldest(lt(counts.minute, minute));
        if (first === undefined) break;
        const end = Math.min(Math.floor(first / DAY) * DAY + DAY, minute);
        await queries.delete(counts).where(lt(counts.minute, end));
      }
      await queries.delete(days).where(lt(days.day, Math.floor(minute / DAY)));
      await queries.delete(events).where(lt(events.hour, Math.floor(minute / HOUR)));
    },
  };

  async function oldest(condition: ReturnType<typeof and>): Promise<number | undefined> {
    const [row] = await queries
      .select({ minute: counts.minute })
      .from(counts)
      .where(condition)
      .orderBy(counts.minute)
      .limit(1);
    return row?.minute;
  }
}

/** Returns the key of a series, as in its unique index. */
export const keyOf = ({ pipelineId, nodeId, componentId, type, inputId }: UsageNode): string =>
  `${pipelineId} ${nodeId} ${componentId} ${type} ${inputId}`;

/** Returns the ingress of inputs and the egress of outputs, by organization and day. */
export function daySumsOf(rows: readonly UsageRow[]): DaySum[] {
  const sums = new Map<string, DaySum>();
  for (const { node, minute, amounts } of rows) {
    const { organizationId, componentType } = node;
    if (componentType !== 'input' && componentType !== 'output') continue;
    const day = Math.floor(minute / DAY);
    const key = `${organizationId} ${day}`;
    const sum = sums.get(key) ?? { organizationId, day, ingressBytes: 0, egressBytes: 0 };
    sums.set(key, sum);
    if (componentType === 'input') sum.ingressBytes += amounts.ingressBytes;
    else sum.egressBytes += amounts.egressBytes;
  }
  return [...sums.values()].toSorted(
    (a, b) => (a.organizationId < b.organizationId ? -1 : a.organizationId > b.organizationId ? 1 : 0) || a.day - b.day,
  );
}

async function addCounts(tx: Queries, rows: readonly UsageRow[], ids: ReadonlyMap<string, number>): Promise<void> {
  const values = rows
    .map(({ node, minute, amounts }) => ({ seriesId: ids.get(keyOf(node)) ?? 0, minute, ...amounts }))
    // Two engines that add to the same rows must not wait for each other.
    .toSorted((a, b) => a.seriesId - b.seriesId || a.minute - b.minute);
  for (let from = 0; from < values.length; from += MAX_ROWS)
    await tx
      .insert(counts)
      .values(values.slice(from, from + MAX_ROWS))
      .onConflictDoUpdate({ target: [counts.seriesId, counts.minute], set: added });
}

async function addDays(tx: Queries, sums: readonly DaySum[]): Promise<DaySum[]> {
  const stored: DaySum[] = [];
  for (let from = 0; from < sums.length; from += MAX_ROWS)
    stored.push(
      ...(await tx
        .insert(days)
        .values(sums.slice(from, from + MAX_ROWS))
        .onConflictDoUpdate({
          target: [days.organizationId, days.day],
          set: {
            ingressBytes: sql`${days.ingressBytes} + excluded.ingress_bytes`,
            egressBytes: sql`${days.egressBytes} + excluded.egress_bytes`,
          },
        })
        .returning()),
    );
  return stored;
}

async function addEvents(tx: Queries, { rows, at, dueAt }: UsageBatch): Promise<void> {
  if (!dueAt) return;
  const hours = new Map(
    rows.map(({ node, minute }) => {
      const hour = Math.floor(minute / HOUR);
      const { organizationId, parentId, pipelineId } = node;
      const event = { organizationId, parentId, pipelineId, hour, changes: 0, revision: 0, attempts: 0 };
      return [`${pipelineId} ${hour}`, { ...event, nextAttemptAt: dueAt(hour) }];
    }),
  );
  const values = [...hours.values()].toSorted(
    (a, b) => (a.pipelineId < b.pipelineId ? -1 : a.pipelineId > b.pipelineId ? 1 : 0) || a.hour - b.hour,
  );
  for (let from = 0; from < values.length; from += MAX_ROWS)
    await tx
      .insert(events)
      .values(values.slice(from, from + MAX_ROWS))
      .onConflictDoUpdate({
        target: [events.pipelineId, events.hour],
        set: {
          changes: sql`${events.changes} + 1`,
          nextAttemptAt: sql`coalesce(${events.nextAttemptAt}, ${at.toISOString()}::timestamptz)`,
        },
        // An hour that is not due yet has nothing to correct.
        setWhere: sql`excluded.next_attempt_at <= ${at.toISOString()}::timestamptz`,
      });
}
