import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createRedisInput } from './input.js';
import { createRedisOutput } from './output.js';
import { testRedisInput, testRedisOutput } from './test-connection.js';

export const redisInput: ConnectorCode = { testConnection: testRedisInput, createInput: createRedisInput };
export const redisOutput: ConnectorCode = { testConnection: testRedisOutput, createOutput: createRedisOutput };
