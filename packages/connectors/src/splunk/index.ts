import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createSplunkOutput } from './output.js';
import { testSplunk } from './test-connection.js';

export const splunkOutput: ConnectorCode = { testConnection: testSplunk, createOutput: createSplunkOutput() };
