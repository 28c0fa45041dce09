import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createHttpOutput } from './output.js';
import { testHttp } from './test-connection.js';

export const httpOutput: ConnectorCode = { testConnection: testHttp, createOutput: createHttpOutput };
