import type { ConnectorCode } from '../connector-code.js';
import { createSplunkOutput } from './output.js';
import { testSplunk } from './test-connection.js';

export const splunkOutput: ConnectorCode = { testConnection: testSplunk, createOutput: createSplunkOutput() };
