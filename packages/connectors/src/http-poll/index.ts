import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createHttpPollInput } from './input.js';
import { testHttpPoll } from './test-connection.js';

export const httpPollInput: ConnectorCode = { testConnection: testHttpPoll, createInput: createHttpPollInput };
