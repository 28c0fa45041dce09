import type { ConnectorCode } from '../connector-code.js';
import { testOktaSystemLog } from './test-connection.js';

export const oktaSystemLogInput: ConnectorCode = { testConnection: testOktaSystemLog };
