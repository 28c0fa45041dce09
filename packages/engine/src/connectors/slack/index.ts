import type { ConnectorCode } from '../connector-code.js';
import { createSlackOutput } from './output.js';
import { createSlackTester } from './test-connection.js';

export const slackOutput: ConnectorCode = { testConnection: createSlackTester(), createOutput: createSlackOutput() };
