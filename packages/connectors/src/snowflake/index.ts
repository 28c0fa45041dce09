import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createSnowflakeInput } from './input.js';
import { createSnowflakeOutput } from './output.js';
import { createStreamingOutput } from './streaming-output.js';
import { testSnowflakeInput, testSnowflakeOutput, testStreamingOutput } from './test-connection.js';

export const snowflakeInput: ConnectorCode = { testConnection: testSnowflakeInput, createInput: createSnowflakeInput };
export const snowflakeOutput: ConnectorCode = {
  testConnection: testSnowflakeOutput,
  createOutput: createSnowflakeOutput,
};
export const snowpipeStreamingOutput: ConnectorCode = {
  testConnection: testStreamingOutput,
  createOutput: createStreamingOutput,
};
