import type { ConnectorCode } from '../connector-code.js';
import { testElasticsearch } from './test-connection.js';

export const elasticsearchOutput: ConnectorCode = { testConnection: testElasticsearch };
