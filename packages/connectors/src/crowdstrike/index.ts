import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createEventStreamInput } from './input.js';
import { createCrowdstrikeEventStreamTester } from './test-connection.js';

export const crowdstrikeEventStreamInput: ConnectorCode = {
  testConnection: createCrowdstrikeEventStreamTester(),
  createInput: createEventStreamInput(),
};
