import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createPollInput } from './poll-input.js';
import { createPollTester } from './test-poll.js';

/** Returns the code that a type gets from its `poll` definition. */
export function pollCode(type: ConnectorTypeData): ConnectorCode {
  const { poll } = type;
  return poll ? { testConnection: createPollTester(type, poll), createInput: createPollInput(poll) } : {};
}
