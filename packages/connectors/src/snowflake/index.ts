import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createSnowflakeInput } from './input.js';
import { createSnowflakeOutput } from './output.js';
import { testSnowflakeInput, testSnowflakeOutput } from './test-connection.js';

export const snowflakeInput: ConnectorCode = { testConnection: testSnowflakeInput, createInput: createSnowflakeInput };
export const snowflakeOutput: ConnectorCode = {
  testConnection: testSnowflakeOutput,
  createOutput: createSnowflakeOutput,
};
