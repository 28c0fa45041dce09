import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { testOktaSystemLog } from './test-connection.js';

export const oktaSystemLogInput: ConnectorCode = { testConnection: testOktaSystemLog };
