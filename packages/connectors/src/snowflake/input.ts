import type { ConnectorConfig } from '@connector-frame/catalog/types';
import {
  ConnectorError,
  isRecord,
  type ConnectorContext,
  type DataRecord,
  type JsonValue,
  type Page,
  type PageInput,
} from '@connector-frame/engine/connector-api';
import { createHash } from 'node:crypto';
import { parseExact } from '../_shared/exact-json.js';
import { invalidConfig } from '../_shared/output/send.js';
import { isDue } from '../_shared/poll/schedule.js';
import { at, text } from '../_shared/read.js';
import { toSqlConnectorError } from '../_shared/sql/errors.js';
import { readPosition, RecentRows, type Place } from '../_shared/sql/recent-rows.js';
import { SnowflakeClient } from './client.js';
import { readSnowflake } from './config.js';
import { identifier } from './identifier.js';

const PRODUCT = 'Snowflake';
/** A page ends with the first row after this many that has another time. */
const PAGE_ROWS = 1_000;
/** Views of ACCOUNT_USAGE show rows up to three hours late. */
const LOOKBACK_MS = 3 * 3_600_000;
const MAX_KEYS = 20_000;
/** Maximum bytes of one row as JSON; a larger one does not fit into a batch. */
const MAX_ROW = 512 * 1024;

/** Reads rows in the order of a timestamp column, on a schedule. */
export function createSnowflakeInput(config: ConnectorConfig, { egress, clock }: ConnectorContext): PageInput {
  const found = readSnowflake(config);
  if ('ok' in found) throw invalidConfig(found.message);
  const target = found;
  const { settings } = config;
  const column = text(settings, 'timestamp_column') ?? '';
  const schedule = text(settings, 'cron') ?? '0 * * * *';
  const client = new SnowflakeClient(target, egress, clock);

  async function* read(before: JsonValue | undefined, signal: AbortSignal): AsyncGenerator<Page> {
    const now = clock.now();
    const pass = new RecentRows(column, readPosition(at(before, 'rows')), {
      now,
      lookbackMs: LOOKBACK_MS,
      limit: MAX_KEYS,
    });
    const from = pass.after?.[0];
    const source = sourceOf(settings, target.database, target.schema);
    const rows = client.run(
      selectStatement(source, column, from !== undefined),
      from === undefined ? [] : [from],
      signal,
    );
    // Until the pass is complete, the time of the previous one stays: it is then repeated.
    const ran = at(before, 'ran');
    for await (const page of pagesOf(rows)) {
      const isNew = pass.add(page.map(({ place }) => place));
      const records = page.flatMap(({ record }, index) => (isNew[index] ? [record] : []));
      if (records.length > 0) yield { records, cursor: cursorOf(ran, pass.position) };
    }
    yield { records: [], cursor: cursorOf(now, pass.end()) };
  }

  return {
    kind: 'pages',
    readsAhead: true,
    async *pages(cursor, signal, isRequested = false) {
      const ran = at(cursor, 'ran');
      if (!isRequested && typeof ran === 'number' && !isDue(schedule, ran, clock.now())) return;
      try {
        yield* read(cursor, signal);
      } catch (error) {
        if (!signal.aborted) throw toSqlConnectorError(error, PRODUCT);
      }
    },
  };
}

const cursorOf = (ran: unknown, rows: object): JsonValue => JSON.parse(JSON.stringify({ ran, rows }));

/** Returns the table or query as SQL. */
export function sourceOf(settings: Record<string, unknown>, database: string, schema: string): string {
  const query = text(settings, 'query')?.replace(/[;\s]+$/, '');
  if (query !== undefined) return `(\n${query}\n)`;
  const table = text(settings, 'table');
  if (table === undefined) throw new ConnectorError('invalid_config', 'Enter a table or a query.', 'permanent');
  return [database, schema, table].map((name) => identifier(name)).join('.');
}

/**
 * Reads each row as JSON, which keeps the digits of numbers, with its time in nanoseconds.
 *
 * @param isContinued whether the only placeholder is the time to start after; otherwise all rows
 */
export function selectStatement(source: string, column: string, isContinued: boolean): string {
  const name = identifier(column);
  const after = isContinued ? ` AND ${name} > TO_TIMESTAMP_LTZ(?::NUMBER, 9)` : '';
  return `SELECT TO_JSON(OBJECT_CONSTRUCT_KEEP_NULL(*)), DATE_PART(EPOCH_NANOSECOND, ${name}::TIMESTAMP_LTZ)::VARCHAR
    FROM ${source} AS source WHERE ${name} IS NOT NULL${after} ORDER BY ${name}`;
}

interface Row {
  place: Place;
  record: DataRecord;
}

/** Splits a result into pages, never between rows of the same time: the next pass starts after one. */
async function* pagesOf(parts: AsyncIterable<readonly (readonly (string | null)[])[]>): AsyncGenerator<Row[]> {
  let page: Row[] = [];
  for await (const rows of parts) {
    for (const [json, time] of rows) {
      if (json === null || json === undefined || time === null || time === undefined) continue;
      if (page.length >= PAGE_ROWS && page.at(-1)?.place[0] !== time) {
        yield page;
        page = [];
      }
      const hash = createHash('sha256').update(json).digest('base64url');
      page.push({ place: [time, hash], record: toRecord(json) });
    }
  }
  if (page.length > 0) yield page;
}

function toRecord(json: string): DataRecord {
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_ROW) return { _omitted: 'too_large', _bytes: bytes };
  const record = parseExact(json);
  return isRecord(record) ? record : {};
}
