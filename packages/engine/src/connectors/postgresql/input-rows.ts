import { isRecord, type DataRecord } from '../../records/record.js';
import { parseExact } from '../exact-json.js';
import { texts } from '../read.js';
import { quoted } from './find-table.js';
import type { Scan, TableCursor } from './input-cursor.js';
import { ROW, type TablePlan } from './input-plan.js';
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

/** A row that was gone over, delivered or not. */
export interface Passed {
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

/** The rows of a page, within a transaction that ends with it, and whether nothing is left behind them for now. */
export async function fetchRows(
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
export function toRecord({ schema, name, cursor }: TablePlan, { value, body, size }: Passed): DataRecord {
  const from = { _schema: schema, _table: name };
  if (body === undefined) return { ...from, [cursor.name]: value, _omitted: 'too_large', _bytes: size };
  const row = parseExact(body);
  return isRecord(row) ? { ...from, ...row } : from;
}
