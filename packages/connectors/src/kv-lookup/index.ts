import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createKvLookup, testKvLookup } from './enrichment.js';
import { createKvLookupOutput } from './output.js';

export const kvLookupOutput: ConnectorCode = { createOutput: createKvLookupOutput };
export const kvLookupEnrichment: ConnectorCode = { createEnrichment: createKvLookup, testConnection: testKvLookup };
