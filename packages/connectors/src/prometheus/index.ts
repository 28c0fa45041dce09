import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createPrometheusOutput } from './output.js';
import { testPrometheus } from './test-connection.js';

export const prometheusOutput: ConnectorCode = {
  testConnection: testPrometheus,
  createOutput: createPrometheusOutput,
};
