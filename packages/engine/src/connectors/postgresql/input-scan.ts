import type { DataRecord } from '../../records/record.js';
import { parseExact } from '../exact-json.js';
import { at, isRecord, texts } from '../read.js';
import { quoted } from './find-table.js';
import type { Fence, Scan, TableCursor } from './input-cursor.js';
import { isTime, isWhole, ROW, type TablePlan } from './input-plan.js';
import type { Query } from './session.js';

/** Rows that one query goes over, those that were delivered among them. */
const SCAN_ROWS = 5_000;
/** Rows that one answer may hold. */
const FETCH_ROWS = 100;
/** A page ends with the answer in which it reaches one of these. */
const PAGE_ROWS = 1_000;
const PAGE_BYTES = 4 * 1024 * 1024;
/** Of one row as JSON: more fits into no batch. */
const MAX_ROW = 512 * 1024;
/** The first pass waits so often, 100 ms each, for the transactions that are open just then. */
const FENCE_TRIES = 20;

/** Times, numbers and bytes always read the same, whatever the server and the user are set to. */
const BEGIN = `
  BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
  SET LOCAL statement_timeout = '60s';
  SET LOCAL TimeZone = 'UTC';
  SET LOCAL DateStyle = 'ISO';
  SET LOCAL extra_float_digits = 1;
  SET LOCAL bytea_output = 'hex'`;

/** What one look at a table brought. */
export interface TablePage {
  records: DataRecord[];
  cursor: TableCursor;
  /** The pass is at its end. */
  done: boolean;
  /** The cursor says something new. */
  moved: boolean;
}

interface Passed {
  value: string;
  ties: string[];
  young: boolean;
  fresh: boolean;
  /** Of a value larger than all that was delivered. */
  beyond: boolean;
  body?: string;
  size: number;
  total: number;
}

/** What a pass needs beside the table. */
export interface ScanOptions {
  query: Query;
  /** How much later than its time a row may be committed. */
  lookbackMinutes: number;
  /** Waits a moment. */
  pause: () => Promise<void>;
}

/** Reads on in one table. */
export async function readTablePage(
  options: ScanOptions,
  plan: TablePlan,
  before: TableCursor | undefined,
): Promise<TablePage> {
  let cursor = startFrom(plan, before);
  const scan = cursor.scan ?? (await beginScan(options, plan, cursor));
  // A server with smaller numbers is another one: what is new there can only be told by its value.
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
  // What was seen in one look, and brought nothing, need not be written down.
  const same = cursor === before && !cursor.scan && cursor.hold === hold;
  const quiet = same && records.length === 0;
  return { records, cursor: endScan(plan, cursor, next), done: true, moved: !quiet };
}

/** A table that was emptied or made anew may have begun to count again, and another column is another order. */
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
    // When the connection is gone, so is the transaction.
    await query('ROLLBACK').catch(() => undefined);
  }
}

async function beginScan(options: ScanOptions, plan: TablePlan, cursor: TableCursor): Promise<Scan> {
  const snapshot = await takeSnapshot(options, plan, cursor);
  if (cursor.fence) return snapshot;
  // The very first pass: once the transactions that are open now have ended, all others write larger values.
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
  // A time to come, as some use it for "never", must not keep what is written now from being seen.
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

/** The place to begin at: some values before the smallest that may still come, for those who number by themselves. */
function lower(column: TablePlan['cursor'], lookbackMinutes: number): string {
  const low = `least($1::${column.type}, $2::${column.type})`;
  if (column.base === 'date') return `${low} - ${Math.ceil(lookbackMinutes / 1_440)}`;
  if (isTime(column)) return `(${low} - interval '${lookbackMinutes} minutes')::${column.type}`;
  const smallest = { int2: '-32768', int4: '-2147483648', int8: '-9223372036854775808' }[column.base];
  if (smallest && isWhole(column)) return `greatest(${low}::numeric - 1000, ${smallest})::${column.type}`;
  return low;
}

async function fetchRows(
  query: Query,
  plan: TablePlan,
  scan: Scan,
  cursor: TableCursor,
): Promise<{ rows: Passed[]; end: boolean }> {
  const { text, values } = pageQuery(plan, scan, cursor);
  await query(`DECLARE page NO SCROLL CURSOR FOR ${text}`, values);
  const rows: Passed[] = [];
  let [bytes, fresh] = [0, 0];
  for (;;) {
    const answer = (await query(`FETCH ${FETCH_ROWS} FROM page`)).map(readPassed);
    rows.push(...answer);
    bytes += answer.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
    fresh += answer.filter((row) => row.fresh).length;
    // The last row that was gone over is always there, so that the next page goes on behind it.
    if (answer.length < FETCH_ROWS) return { rows, end: (rows[0]?.total ?? 0) < SCAN_ROWS };
    if (fresh >= PAGE_ROWS || bytes >= PAGE_BYTES) return { rows, end: false };
  }
}

/**
 * Rows in order from the place of the scan on. `fresh`: its transaction has ended before the scan and was not there
 * in the one before. `young`: it is for a later one. The number of a row's transaction has 32 bits; the rest is taken
 * from the present.
 */
function pageQuery(plan: TablePlan, scan: Scan, cursor: TableCursor): { text: string; values: unknown[] } {
  const { cursor: column, ties, sql } = plan;
  const value = `${ROW}.${quoted(column.name)}`;
  const values: unknown[] = [scan.horizon, cursor.horizon, cursor.top ?? null];
  const take = (text: string, type: string): string => `$${values.push(text)}::${type}`;
  const order = [value, ...ties.map((tie) => tie.sql)];
  let start = 'true';
  if (scan.after) {
    const [first = '', ...rest] = scan.after;
    const place = [take(first, column.type), ...ties.map(({ type }, index) => take(rest[index] ?? '', type))];
    start = `(${order.join(', ')}) > (${place.join(', ')})`;
  } else if (scan.from !== undefined) start = `${value} >= ${take(scan.from, column.type)}`;
  const names = ties.map((_tie, index) => `k${index}`);
  const picked = [`${value} AS c`, ...ties.map((tie, index) => `${tie.sql} AS k${index}`)];
  const text = `
    SELECT p.c::text AS value, to_json(ARRAY[${names.map((name) => `p.${name}::text`).join(', ')}]::text[])::text AS ties,
      p.age >= $1::bigint AS young, p.fresh, p.beyond, p.total::text AS total, octet_length(b.body)::text AS size,
      CASE WHEN octet_length(b.body) <= ${MAX_ROW} THEN b.body END AS body
    FROM (
      SELECT w.*, row_number() OVER (ORDER BY ${['w.c', ...names.map((name) => `w.${name}`)].join(', ')}) AS place,
        count(*) OVER () AS total,
        w.age < $1::bigint AND (w.age >= $2::bigint OR w.beyond) AS fresh
      FROM (
        SELECT ${ROW} AS r, ${picked.join(', ')}, coalesce(${value} > $3::${column.type}, $2::bigint = 0) AS beyond,
          greatest(0, n.x - ((n.x - ${ROW}.xmin::text::bigint) & 4294967295)) AS age
        FROM ${sql} AS ${ROW}, (SELECT txid_snapshot_xmax(txid_current_snapshot()) AS x) AS n
        WHERE ${value} IS NOT NULL AND ${start}
        ORDER BY ${order.join(', ')} LIMIT ${SCAN_ROWS}
      ) AS w
    ) AS p, LATERAL (SELECT CASE WHEN p.fresh THEN row_to_json(p.r)::text END AS body) AS b
    WHERE p.fresh OR p.age >= $1::bigint OR p.place = p.total
    ORDER BY p.place`;
  return { text, values };
}

function readPassed(row: Record<string, unknown>): Passed {
  const ties: unknown = JSON.parse(String(row['ties']));
  const { body } = row;
  return {
    value: String(row['value']),
    ties: texts({ ties }, 'ties'),
    young: row['young'] === true,
    fresh: row['fresh'] === true,
    beyond: row['beyond'] === true,
    ...(typeof body === 'string' && { body }),
    size: Number(row['size'] ?? 0),
    total: Number(row['total']),
  };
}

/** Columns by their names, and where they are from; a column that has one of those names itself stays as it is. */
function toRecord({ schema, name, cursor }: TablePlan, { value, body, size }: Passed): DataRecord {
  const from = { _schema: schema, _table: name };
  if (body === undefined) return { ...from, [cursor.name]: value, _omitted: 'too_large', _bytes: size };
  const row = parseExact(body);
  return isRecord(row) ? { ...from, ...row } : from;
}

/** What holds once a pass is through: nothing below `low` can come any more. */
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
