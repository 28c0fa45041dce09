import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createNatsInput } from './input.js';
import { createNatsOutput } from './output.js';
import { testNatsInput, testNatsOutput } from './test-connection.js';

export const natsInput: ConnectorCode = { testConnection: testNatsInput, createInput: createNatsInput };
export const natsOutput: ConnectorCode = { testConnection: testNatsOutput, createOutput: createNatsOutput };
