import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createPostgresqlInput } from './input.js';
import { createPostgresqlOutput } from './output.js';
import { testPostgresqlInput } from './test-input.js';
import { testPostgresqlOutput } from './test-output.js';

export const postgresqlInput: ConnectorCode = {
  testConnection: testPostgresqlInput,
  createInput: createPostgresqlInput,
};
export const postgresqlOutput: ConnectorCode = {
  testConnection: testPostgresqlOutput,
  createOutput: createPostgresqlOutput,
};
