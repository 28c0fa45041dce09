import type { ConnectorCode } from '../connector-code.js';
import { createDatadogTester } from './test-connection.js';

export const datadogOutput: ConnectorCode = { testConnection: createDatadogTester() };
