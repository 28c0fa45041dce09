import type { ConnectorCode } from '../connector-code.js';
import { testPostgresqlInput } from './test-input.js';
import { testPostgresqlOutput } from './test-output.js';

export const postgresqlInput: ConnectorCode = { testConnection: testPostgresqlInput };
export const postgresqlOutput: ConnectorCode = { testConnection: testPostgresqlOutput };
