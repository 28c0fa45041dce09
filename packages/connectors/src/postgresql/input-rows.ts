import { isRecord, type DataRecord } from '@connector-frame/engine/connector-api';
import { parseExact } from '../_shared/exact-json.js';
import { texts } from '../_shared/read.js';
import { quoted } from './find-table.js';
import type { Scan, TableCursor } from './input-cursor.js';
import { ROW, type TablePlan } from './input-plan.js';
import type { Query } from './client.js';

/** Rows scanned by one query, including rows that were already delivered. */
const SCAN_ROWS = 5_000;
/** Rows per `FETCH`. */
const FETCH_ROWS = 100;
/** A page ends with the `FETCH` that reaches one of these limits. */
const PAGE_ROWS = 1_000;
const PAGE_BYTES = 4 * 1024 * 1024;
/** Maximum bytes of one row as JSON; a larger one does not fit into a batch. */
const MAX_ROW = 512 * 1024;

/** A scanned row, delivered or not. */
export interface ScannedRow {
  value: string;
  ties: string[];
  young: boolean;
  fresh: boolean;
  /** Its cursor value is larger than all delivered ones. */
  beyond: boolean;
  body?: string;
  size: number;
  total: number;
}

/**
 * Fetches the rows of one page. `end`: no rows are left for now. Requires an open transaction,
 * which must end with the page.
 */
export async function fetchRows(
  query: Query,
  plan: TablePlan,
  scan: Scan,
  cursor: TableCursor,
): Promise<{ rows: ScannedRow[]; end: boolean }> {
  const { text, values } = pageQuery(plan, scan, cursor);
  await query(`DECLARE page NO SCROLL CURSOR FOR ${text}`, values);
  const rows: ScannedRow[] = [];
  let [bytes, fresh] = [0, 0];
  for (;;) {
    const fetched = (await query(`FETCH ${FETCH_ROWS} FROM page`)).map(readScannedRow);
    rows.push(...fetched);
    bytes += fetched.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
    fresh += fetched.filter((row) => row.fresh).length;
    // The query always returns the last scanned row, so the next page can continue after it.
    if (fetched.length < FETCH_ROWS) return { rows, end: (rows[0]?.total ?? 0) < SCAN_ROWS };
    if (fresh >= PAGE_ROWS || bytes >= PAGE_BYTES) return { rows, end: false };
  }
}

/**
 * Builds the query for rows in cursor order from the position of the scan. `fresh`: the row's
 * transaction ended before this scan and was not covered by the previous one. `young`: the row
 * belongs to a later scan. `xmin` has only 32 bits; the upper bits are derived from the current
 * transaction ID.
 */
function pageQuery(plan: TablePlan, scan: Scan, cursor: TableCursor): { text: string; values: unknown[] } {
  const { cursor: column, ties, sql } = plan;
  const value = `${ROW}.${quoted(column.name)}`;
  const values: unknown[] = [scan.horizon, cursor.horizon, cursor.top ?? null];
  const bind = (text: string, type: string): string => `$${values.push(text)}::${type}`;
  const order = [value, ...ties.map((tie) => tie.sql)];
  let start = 'true';
  if (scan.after) {
    const [first = '', ...rest] = scan.after;
    const place = [bind(first, column.type), ...ties.map(({ type }, index) => bind(rest[index] ?? '', type))];
    start = `(${order.join(', ')}) > (${place.join(', ')})`;
  } else if (scan.from !== undefined) start = `${value} >= ${bind(scan.from, column.type)}`;
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

function readScannedRow(row: Record<string, unknown>): ScannedRow {
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

/**
 * Converts a row to a record with its columns, `_schema` and `_table`. A column with one of these
 * names takes precedence.
 */
export function toRecord({ schema, name, cursor }: TablePlan, { value, body, size }: ScannedRow): DataRecord {
  const from = { _schema: schema, _table: name };
  if (body === undefined) return { ...from, [cursor.name]: value, _omitted: 'too_large', _bytes: size };
  const row = parseExact(body);
  return isRecord(row) ? { ...from, ...row } : from;
}
