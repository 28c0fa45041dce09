import type { DataRecord } from '@connector-frame/engine/connector-api';
import { at } from '../_shared/read.js';
import { quoted } from './find-table.js';
import type { Fence, Scan, TableCursor } from './input-cursor.js';
import { isTime, isWhole, type TablePlan } from './input-plan.js';
import { fetchRows, toRecord } from './input-rows.js';
import type { Query } from './session.js';

/** How many times the first pass waits 100 ms for the currently open transactions to end. */
const FENCE_TRIES = 20;

/** Fixes the text format of times, numbers and bytes, regardless of server and user settings. */
const BEGIN = `
  BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
  SET LOCAL statement_timeout = '60s';
  SET LOCAL TimeZone = 'UTC';
  SET LOCAL DateStyle = 'ISO';
  SET LOCAL extra_float_digits = 1;
  SET LOCAL bytea_output = 'hex'`;

/** The result of reading one page of a table. */
export interface TablePage {
  records: DataRecord[];
  cursor: TableCursor;
  /** The pass is complete. */
  done: boolean;
  /** The cursor changed and must be committed. */
  moved: boolean;
}

/** Dependencies and settings of a pass. */
export interface ScanOptions {
  query: Query;
  /** Maximum delay between a row's timestamp and its commit, in minutes. */
  lookbackMinutes: number;
  /** Waits before the next snapshot. */
  pause: () => Promise<void>;
}

/** Reads the next page of one table. */
export async function readTablePage(
  options: ScanOptions,
  plan: TablePlan,
  before: TableCursor | undefined,
): Promise<TablePage> {
  let cursor = startFrom(plan, before);
  const scan = cursor.scan ?? (await beginScan(options, plan, cursor));
  // Smaller transaction IDs mean a different server. There, only the cursor value tells which rows
  // are new.
  if (BigInt(scan.horizon) < BigInt(cursor.horizon)) cursor = { ...without(cursor, 'fence'), horizon: '0' };
  const { rows, end } = await inTransaction(options.query, () => fetchRows(options.query, plan, scan, cursor));
  const last = rows.at(-1);
  const hold = scan.hold ?? rows.find(({ young }) => young)?.value;
  const top = rows.findLast(({ fresh, beyond }) => fresh && beyond)?.value ?? scan.top;
  const next: Scan = {
    ...scan,
    ...(last && { after: [last.value, ...last.ties] }),
    ...(hold !== undefined && { hold }),
    ...(top !== undefined && { top }),
  };
  const records = rows.filter(({ fresh }) => fresh).map((row) => toRecord(plan, row));
  if (!end) return { records, cursor: { ...cursor, scan: next }, done: false, moved: true };
  // A pass of one page without new rows or a changed `hold` does not need to be committed.
  const same = cursor === before && !cursor.scan && cursor.hold === hold;
  const quiet = same && records.length === 0;
  return { records, cursor: endScan(plan, cursor, next), done: true, moved: !quiet };
}

/**
 * Returns the position to continue from. Restarts the scan for a truncated or recreated table,
 * whose sequence may have restarted, and for another column, which has another order.
 */
function startFrom(plan: TablePlan, before: TableCursor | undefined): TableCursor {
  const own = { identity: plan.identity, column: plan.cursor.name };
  if (!before) return { ...own, horizon: '0' };
  if (before.column !== own.column) return { ...own, horizon: before.horizon };
  if (before.identity === own.identity) return before;
  return { ...own, horizon: before.horizon, ...(before.top !== undefined && { top: before.top }) };
}

function without<T extends object, K extends keyof T>(value: T, key: K): Omit<T, K> {
  const { [key]: _left, ...rest } = value;
  return rest;
}

async function inTransaction<T>(query: Query, work: () => Promise<T>): Promise<T> {
  await query(BEGIN);
  try {
    return await work();
  } finally {
    // Ignore errors: if the connection is lost, the transaction is gone too.
    await query('ROLLBACK').catch(() => undefined);
  }
}

async function beginScan(options: ScanOptions, plan: TablePlan, cursor: TableCursor): Promise<Scan> {
  const snapshot = await takeSnapshot(options, plan, cursor);
  if (cursor.fence) return snapshot;
  // On the first pass, wait until the currently open transactions have ended: all later ones write
  // larger values.
  for (let attempt = 0; ; attempt += 1) {
    const later = await takeSnapshot(options, plan, cursor);
    if (BigInt(later.horizon) >= BigInt(snapshot.fence.xid)) return { ...later, fence: snapshot.fence };
    if (attempt === FENCE_TRIES) return later;
    await options.pause();
  }
}

function takeSnapshot(
  { query, lookbackMinutes }: ScanOptions,
  { cursor: column, sql }: TablePlan,
  { low, hold }: TableCursor,
): Promise<Scan> {
  const name = quoted(column.name);
  // Cap at the current time: a future time, which some use for "never", must not hide rows that are
  // written now.
  const now = { date: 'current_date', timestamp: 'localtimestamp', timestamptz: 'now()' }[column.base];
  const largest = `(SELECT t.${name} FROM ${sql} AS t WHERE t.${name} IS NOT NULL ORDER BY t.${name} DESC LIMIT 1)`;
  const text = `
    SELECT txid_snapshot_xmin(s)::text AS horizon, txid_snapshot_xmax(s)::text AS next,
      (${now ? `least(${largest}, ${now})` : largest})::text AS top,
      (${lower(column, lookbackMinutes)})::text AS low
    FROM txid_current_snapshot() AS s`;
  return inTransaction(query, async () => {
    const [row] = await query(text, [low ?? null, hold ?? low ?? null]);
    const [top, from] = [at(row, 'top'), at(row, 'low')];
    const fence: Fence = { xid: String(at(row, 'next')), ...(typeof top === 'string' && { value: top }) };
    const known = low !== undefined && typeof from === 'string';
    return { horizon: String(at(row, 'horizon')), fence, ...(known && { from }) };
  });
}

/**
 * Returns SQL for the value to start at: slightly below the smallest value still to come, for
 * writers that assign their own values.
 */
function lower(column: TablePlan['cursor'], lookbackMinutes: number): string {
  const low = `least($1::${column.type}, $2::${column.type})`;
  if (column.base === 'date') return `${low} - ${Math.ceil(lookbackMinutes / 1_440)}`;
  if (isTime(column)) return `(${low} - interval '${lookbackMinutes} minutes')::${column.type}`;
  const smallest = { int2: '-32768', int4: '-2147483648', int8: '-9223372036854775808' }[column.base];
  if (smallest && isWhole(column)) return `greatest(${low}::numeric - 1000, ${smallest})::${column.type}`;
  return low;
}

/** Returns the position after a complete pass: no row below `low` can appear any more. */
function endScan(plan: TablePlan, cursor: TableCursor, { horizon, fence, hold, top }: Scan): TableCursor {
  const reached = cursor.fence ?? fence;
  const clear = BigInt(reached.xid) <= BigInt(horizon);
  const low = clear ? reached.value : cursor.low;
  const largest = top ?? cursor.top;
  return {
    identity: plan.identity,
    column: plan.cursor.name,
    horizon,
    ...(largest !== undefined && { top: largest }),
    ...(low !== undefined && { low }),
    ...(hold !== undefined && { hold }),
    fence: clear ? fence : reached,
  };
}
