import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createPapertrailOutput, createSyslogOutput } from './output.js';
import { testPapertrail, testSyslog } from './test-connection.js';

export const syslogOutput: ConnectorCode = { testConnection: testSyslog, createOutput: createSyslogOutput };
export const papertrailOutput: ConnectorCode = { testConnection: testPapertrail, createOutput: createPapertrailOutput };
