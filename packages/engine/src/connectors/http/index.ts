import type { ConnectorCode } from '../connector-code.js';
import { createHttpOutput } from './output.js';
import { testHttp } from './test-connection.js';

export const httpOutput: ConnectorCode = { testConnection: testHttp, createOutput: createHttpOutput };
