import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createSqsOutput, createSqsOutputTester } from './output.js';

export const sqsOutput: ConnectorCode = { testConnection: createSqsOutputTester(), createOutput: createSqsOutput() };
