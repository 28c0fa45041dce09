import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createCrowdstrikeEventStreamTester } from './test-connection.js';

export const crowdstrikeEventStreamInput: ConnectorCode = { testConnection: createCrowdstrikeEventStreamTester() };
