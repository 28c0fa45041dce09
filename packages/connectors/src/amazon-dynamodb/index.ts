import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createDynamoDbOutput, createDynamoDbTester } from './output.js';

export const dynamoDbOutput: ConnectorCode = {
  testConnection: createDynamoDbTester(),
  createOutput: createDynamoDbOutput(),
};
