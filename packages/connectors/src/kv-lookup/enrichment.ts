import {
  ConnectorError,
  type CreateEnrichment,
  type Enrichment,
  type EnrichmentResult,
  type JsonValue,
} from '@connector-frame/engine/connector-api';
import { createLookupTester } from '../_shared/lookup/test-lookup.js';
import { found, readCommon } from '../_shared/lookup/settings.js';
import { text } from '../_shared/read.js';

const OUTPUT = 'kv_lookup_output_id';

/** Looks up what a KV lookup output of the same organization has written. */
export const createKvLookup: CreateEnrichment = ({ settings }, { keyValues }): Enrichment => {
  const table = tableOf(settings, keyValues);
  return {
    ...readCommon(settings, { join: 'join_path', destination: 'destination_key' }),
    example: { id: 'u-1', name: 'Ana Example', department: 'Finance' },
    async lookUp(keys) {
      const values = await table.get(keys);
      const results = new Map<string, EnrichmentResult>();
      for (const [key, json] of values) {
        const data: JsonValue = JSON.parse(json);
        results.set(key, found(data, Buffer.byteLength(json)));
      }
      return { results };
    },
  };
};

/** Reads one key that no record has: the table exists, and the storage responds. */
export const testKvLookup = createLookupTester(async ({ settings }, { keyValues }) => {
  await tableOf(settings, keyValues).get(['']);
  return 'The table can be read';
}, `/settings/${OUTPUT}`);

function tableOf(
  settings: Parameters<CreateEnrichment>[0]['settings'],
  keyValues: Parameters<CreateEnrichment>[1]['keyValues'],
) {
  const id = text(settings, OUTPUT);
  if (id === undefined) throw new ConnectorError('invalid_config', 'There is no output to look up.', 'permanent');
  if (!keyValues)
    throw new ConnectorError('not_enabled', 'There is no storage for key-value tables here.', 'permanent');
  return keyValues.of(id);
}
