import type { CreateInput, JsonValue, Page, PageInput, TesterConfig } from '@connector-frame/engine/connector-api';
import { toConnectorError } from '../_shared/api/api-error.js';
import { failed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import { BigQuery, type QueryParameter } from './query-job.js';
import { RowCursor } from './row-cursor.js';
import { quote, sourceOf } from './sql.js';

/** Milliseconds between two queries: BigQuery bills the bytes that each of them scans. */
const INTERVAL_MS = 300_000;

/** Returns the query for the rows from the cursor on. */
export function newRowsQuery(
  { settings }: TesterConfig,
  from: RowCursor['from'],
): { sql: string; parameters: QueryParameter[] } {
  const column = quote(text(settings, 'timestamp_column') ?? '', '/settings/timestamp_column');
  const condition = from ? `${column} ${from.includes ? '>=' : '>'} @since` : `${column} IS NOT NULL`;
  return {
    sql: `SELECT * FROM ${sourceOf(settings)} WHERE ${condition} ORDER BY ${column}`,
    parameters: from ? [{ name: 'since', type: from.type, value: from.value }] : [],
  };
}

/** Creates an input that reads new rows, in the order of a column. */
export const createBigQueryInput: CreateInput = (config, { egress, clock }): PageInput => {
  const bigQuery = new BigQuery(config, egress, clock);
  const column = text(config.settings, 'timestamp_column') ?? '';
  newRowsQuery(config, undefined);
  return {
    kind: 'pages',
    intervalMs: INTERVAL_MS,
    readsAhead: true,
    async *pages(saved: JsonValue | undefined, signal: AbortSignal): AsyncGenerator<Page, void, void> {
      const cursor = RowCursor.read(saved);
      const isNew = cursor.start(column);
      const { sql, parameters } = newRowsQuery(config, cursor.from);
      let page = await bigQuery.query(sql, parameters, signal);
      const type = page.columns.find(({ name }) => name === column)?.type;
      if (type === undefined)
        throw toConnectorError(
          failed('not_found', 'The result has no such column.', { at: '/settings/timestamp_column' }),
        );
      for (;;) {
        const records = page.records.filter((record) => isNew(record, type));
        if (!page.next) cursor.finish();
        if (records.length > 0) yield { records, cursor: cursor.toJson() };
        if (!page.next) return;
        page = await bigQuery.results(page.next, signal);
      }
    },
  };
};
