import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createElasticsearchOutput } from './output.js';
import { testElasticsearch } from './test-connection.js';

export const elasticsearchOutput: ConnectorCode = {
  testConnection: testElasticsearch,
  createOutput: createElasticsearchOutput,
};
