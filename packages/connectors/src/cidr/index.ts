import {
  systemClock,
  type ConnectorCode,
  type CreateEnrichment,
  type Enrichment,
  type EnrichmentResult,
} from '@connector-frame/engine/connector-api';
import { resultOf } from '../csv-table/index.js';
import { readIp } from '../_shared/lookup/read-ip.js';
import { invalidLookup, readCommon, type FileContext } from '../_shared/lookup/settings.js';
import { readTable, type NumberedRows, type RowTable } from '../_shared/lookup/table-rows.js';
import { createLookupTester } from '../_shared/lookup/test-lookup.js';
import { text } from '../_shared/read.js';
import { Networks, numberOf, readRange } from './networks.js';

type Settings = Parameters<CreateEnrichment>[0]['settings'];
type Table = RowTable<{ networks: Networks<EnrichmentResult>; count: number }>;

function tableOf(settings: Settings, context: FileContext): Table {
  const keyColumn = text(settings, 'network_column') ?? '';
  const build = (rows: NumberedRows) => ({
    count: rows.length,
    networks: new Networks(
      rows.map(([row, line]) => {
        const range = readRange(row[keyColumn] ?? '');
        if (!range) throw invalidLookup(`Line ${line} of the table has no network, address or range in ${keyColumn}.`);
        return [range, resultOf(row)] as const;
      }),
    ),
  });
  return readTable({ settings }, context, { keyColumn, type: 'cidr', build });
}

/** Looks up IP addresses in a table of networks. */
const createCidr: CreateEnrichment = ({ settings }, context): Enrichment => {
  const table = tableOf(settings, context);
  return {
    ...readCommon(settings, { join: 'ip_address_path', destination: 'destination_path' }),
    cacheMs: 0,
    example: { network: '10.0.0.0/8', site: 'Headquarters' },
    async open() {
      await table.content();
    },
    async lookUp(keys) {
      const { networks } = await table.content();
      const results = new Map<string, EnrichmentResult>();
      for (const key of keys) {
        const address = readIp(key);
        const row = address && networks.find(numberOf(address));
        if (row) results.set(key, row);
      }
      return { results };
    },
    close: () => Promise.resolve(table.close()),
  };
};

const testCidr = createLookupTester(async ({ settings }, { lookupFolders }) => {
  const table = tableOf(settings, { clock: systemClock, ...(lookupFolders && { lookupFolders }) });
  const { count } = await table.content();
  table.close();
  return `The table has ${count} networks`;
}, '/settings/table');

export const cidrEnrichment: ConnectorCode = { createEnrichment: createCidr, testConnection: testCidr };
