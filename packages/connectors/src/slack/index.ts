import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createSlackOutput } from './output.js';
import { createSlackTester } from './test-connection.js';

export const slackOutput: ConnectorCode = { testConnection: createSlackTester(), createOutput: createSlackOutput() };
