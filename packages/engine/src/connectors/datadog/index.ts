import type { ConnectorCode } from '../connector-code.js';
import { createDatadogOutput } from './output.js';
import { createDatadogTester } from './test-connection.js';

export const datadogOutput: ConnectorCode = {
  testConnection: createDatadogTester(),
  createOutput: createDatadogOutput(),
};
