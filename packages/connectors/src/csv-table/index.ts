import {
  MAX_RESULT_BYTES,
  systemClock,
  type ConnectorCode,
  type CreateEnrichment,
  type Enrichment,
  type EnrichmentResult,
} from '@connector-frame/engine/connector-api';
import { found, readCommon, type FileContext } from '../_shared/lookup/settings.js';
import { readTable, type Row, type RowTable } from '../_shared/lookup/table-rows.js';
import { createLookupTester } from '../_shared/lookup/test-lookup.js';
import { text } from '../_shared/read.js';

type Settings = Parameters<CreateEnrichment>[0]['settings'];

function tableOf(settings: Settings, context: FileContext): RowTable<ReadonlyMap<string, EnrichmentResult>> {
  const keyColumn = text(settings, 'key_column') ?? '';
  return readTable({ settings }, context, {
    keyColumn,
    type: 'csv-table',
    build: (rows) => new Map(rows.map(([row]) => [row[keyColumn] ?? '', resultOf(row)] as const)),
  });
}

/** Returns the result of a row. */
export function resultOf(row: Row): EnrichmentResult {
  const bytes = Buffer.byteLength(JSON.stringify(row));
  return bytes > MAX_RESULT_BYTES ? { rejected: 'result_too_large' } : found(row, bytes);
}

/** Looks up rows by the value of a column. Of several rows with the same value, the last counts. */
const createCsvTable: CreateEnrichment = ({ settings }, context): Enrichment => {
  const table = tableOf(settings, context);
  return {
    ...readCommon(settings, { join: 'join_path', destination: 'destination_path' }),
    cacheMs: 0,
    example: { user_id: 'u-1', name: 'Ana Example', department: 'Finance' },
    async open() {
      await table.content();
    },
    async lookUp(keys) {
      const rows = await table.content();
      const results = new Map<string, EnrichmentResult>();
      for (const key of keys) {
        const row = rows.get(key);
        if (row) results.set(key, row);
      }
      return { results };
    },
    close: () => Promise.resolve(table.close()),
  };
};

const testCsvTable = createLookupTester(async ({ settings }, { lookupFolders }) => {
  const table = tableOf(settings, { clock: systemClock, ...(lookupFolders && { lookupFolders }) });
  const { size } = await table.content();
  table.close();
  return `The table has ${size} different keys`;
}, '/settings/table');

export const csvTableEnrichment: ConnectorCode = { createEnrichment: createCsvTable, testConnection: testCsvTable };
