import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createDatadogOutput } from './output.js';
import { createDatadogTester } from './test-connection.js';

export const datadogOutput: ConnectorCode = {
  testConnection: createDatadogTester(),
  createOutput: createDatadogOutput(),
};
