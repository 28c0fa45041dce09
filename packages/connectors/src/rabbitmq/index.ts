import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createRabbitInput } from './input.js';
import { createRabbitOutput } from './output.js';
import { testRabbitInput, testRabbitOutput } from './test-connection.js';

export const rabbitInput: ConnectorCode = { testConnection: testRabbitInput, createInput: createRabbitInput };
export const rabbitOutput: ConnectorCode = { testConnection: testRabbitOutput, createOutput: createRabbitOutput };
