import { ConnectorError, type Tester, type TesterConfig } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import type { Subject } from '../_shared/connection-test/failures.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { readPapertrailTarget, readQradarTarget, readSyslogTarget, type SyslogTarget } from './config.js';
import { connectSyslog } from './output.js';

export const testSyslog: Tester = createSyslogTester(
  { product: 'the syslog receiver', address: '/settings/host' },
  '/settings/protocol',
  readSyslogTarget,
);

export const testPapertrail: Tester = createSyslogTester(
  { product: 'Papertrail', address: '/settings/endpoint' },
  '/settings/endpoint',
  readPapertrailTarget,
);

export const testQradar: Tester = createSyslogTester(
  { product: 'QRadar', address: '/settings/endpoint' },
  '/settings/protocol',
  readQradarTarget,
);

/** Sends nothing: a receiver would not respond, and would keep a test message. */
function createSyslogTester(subject: Subject, field: string, read: (config: TesterConfig) => SyslogTarget): Tester {
  return createTester(subject, async (config, { egress, signal }) => {
    try {
      const target = read(config);
      const { socket } = await connectSyslog(target, egress, signal);
      socket.destroy();
      return passed(target.address.tls ? 'Connected with TLS.' : 'Connected.');
    } catch (error) {
      if (error instanceof ConnectorError) return failed('invalid_config', error.message, { at: field });
      throw error;
    }
  });
}
