import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createPapertrailOutput, createQradarOutput, createSyslogOutput } from './output.js';
import { testPapertrail, testQradar, testSyslog } from './test-connection.js';

export const syslogOutput: ConnectorCode = { testConnection: testSyslog, createOutput: createSyslogOutput };
export const papertrailOutput: ConnectorCode = { testConnection: testPapertrail, createOutput: createPapertrailOutput };
export const qradarOutput: ConnectorCode = { testConnection: testQradar, createOutput: createQradarOutput };
