import type { ConnectorCode } from '../connector-code.js';
import { createCrowdstrikeEventStreamTester } from './test-connection.js';

export const crowdstrikeEventStreamInput: ConnectorCode = { testConnection: createCrowdstrikeEventStreamTester() };
