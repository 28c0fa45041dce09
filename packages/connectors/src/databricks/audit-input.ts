import type { ConnectorConfig } from '@connector-frame/catalog/types';
import {
  isRecord,
  type ConnectorContext,
  type DataRecord,
  type JsonValue,
  type Page,
  type PageInput,
} from '@connector-frame/engine/connector-api';
import { parseExact } from '../_shared/exact-json.js';
import { at, text } from '../_shared/read.js';
import { readPosition, RecentRows, type Place } from '../_shared/sql/recent-rows.js';
import { DatabricksClient, readDatabricks, type Parameter } from './client.js';

const PAGE_ROWS = 1_000;
/** Entries appear within minutes, but not in order. */
const LOOKBACK_MS = 3_600_000;
const MAX_KEYS = 20_000;
/** A statement occupies a warehouse, which costs as long as it runs. */
const INTERVAL_MS = 5 * 60_000;

/** Reads new entries of the system table of audit logs. */
export function createAuditInput(config: ConnectorConfig, { egress, clock }: ConnectorContext): PageInput {
  const { settings } = config;
  const client = new DatabricksClient(readDatabricks(config), egress, clock);
  const httpPath = text(settings, 'http_path') ?? '';
  const backfill = text(settings, 'backfill_start_time');

  async function* read(before: JsonValue | undefined, signal: AbortSignal): AsyncGenerator<Page> {
    const now = clock.now();
    const stored = at(before, 'from');
    const from = typeof stored === 'number' ? stored : backfill === undefined ? now : Date.parse(backfill);
    const position = readPosition(at(before, 'rows'));
    const pass = new RecentRows('event_time', position, { now, lookbackMs: LOOKBACK_MS, limit: MAX_KEYS });
    for (let done = false; !done && !signal.aborted;) {
      const after: Place = pass.after ?? [String(from * 1_000), ''];
      const [time = '', id = ''] = after;
      const parameters: Parameter[] = [
        { name: 'time', value: time, type: 'BIGINT' },
        { name: 'id', value: id, type: 'STRING' },
      ];
      const rows = await client.statement(httpPath, auditStatement(settings, PAGE_ROWS), parameters, signal);
      done = rows.length < PAGE_ROWS;
      const isNew = pass.add(rows.map(([, at = '', eventId = '']) => [at ?? '', eventId ?? '']));
      const records = rows.flatMap(([json], index) => (isNew[index] ? [toRecord(json)] : []));
      const rest = done ? pass.end() : pass.position;
      const isChanged = before === undefined || JSON.stringify(rest) !== JSON.stringify(position);
      if (records.length > 0 || (done && isChanged)) yield { records, cursor: cursorOf(from, rest) };
    }
  }

  return { kind: 'pages', readsAhead: true, intervalMs: INTERVAL_MS, pages: read };
}

const cursorOf = (from: number, rows: object): JsonValue => JSON.parse(JSON.stringify({ from, rows }));

/**
 * Reads entries after `:time`, in microseconds since the epoch, and `:id`.
 * https://docs.databricks.com/aws/en/admin/system-tables/audit-logs
 */
export function auditStatement(settings: Record<string, unknown>, limit: number): string {
  const catalog = (text(settings, 'catalog') ?? 'system').replaceAll('`', '``');
  return `SELECT to_json(struct(*), map('ignoreNullFields', 'false')), CAST(unix_micros(event_time) AS STRING), event_id
    FROM \`${catalog}\`.access.audit
    WHERE event_time >= timestamp_micros(:time) AND (event_time > timestamp_micros(:time) OR event_id > :id)
    ORDER BY event_time, event_id LIMIT ${limit}`;
}

function toRecord(json: string | null | undefined): DataRecord {
  const record = parseExact(json ?? '{}');
  return isRecord(record) ? record : {};
}
