import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createHttpLookup } from './enrichment.js';
import { testHttpLookup } from './test-connection.js';

export const httpLookupEnrichment: ConnectorCode = {
  createEnrichment: createHttpLookup,
  testConnection: testHttpLookup,
};
