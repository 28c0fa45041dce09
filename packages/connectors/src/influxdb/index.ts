import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createInfluxOutput } from './output.js';
import { testInflux } from './test-connection.js';

export const influxOutput: ConnectorCode = { testConnection: testInflux, createOutput: createInfluxOutput };
