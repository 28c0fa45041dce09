import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createPagerDutyOutput } from './output.js';
import { createPagerDutyTester } from './test-connection.js';

export const pagerDutyOutput: ConnectorCode = {
  testConnection: createPagerDutyTester(),
  createOutput: createPagerDutyOutput(),
};
