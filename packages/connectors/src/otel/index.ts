import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createOtelOutput } from './output.js';
import { testOtel } from './test-connection.js';

export const otelOutput: ConnectorCode = { testConnection: testOtel, createOutput: createOtelOutput };
