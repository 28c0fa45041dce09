import { loadCatalog } from '@connector-frame/catalog';
import { expect, it, onTestFinished } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { freePort } from '../../../../test/support/free-port.js';
import { startRsyslog } from '../../../../test/support/rsyslog.js';
import { createEgress } from '@connector-frame/engine/egress';
import { systemClock } from '@connector-frame/engine/connector-api';
import { RecordingSink } from '@connector-frame/engine/testing';
import { monadSyslogInput } from './index.js';

const COUNT = 1_000;
const messages = Array.from({ length: COUNT }, (_, n) => `order ${n} went "out" [ü] \\ <13>`);
const certificate = createCertificate('localhost', '127.0.0.1');
const files = { 'ca.pem': certificate.cert };
const verified = (driver: string) =>
  `StreamDriver="${driver}" StreamDriverMode="1" StreamDriverAuthMode="x509/name" StreamDriverPermittedPeers="localhost" StreamDriver.CAFile="FOLDER/ca.pem"`;

it.each([
  ['UDP', 'udp', 'protocol="udp" template="RSYSLOG_SyslogProtocol23Format"'],
  ['UDP, in the old format', 'udp', 'protocol="udp" template="RSYSLOG_TraditionalForwardFormat"'],
  ['TCP, by lines', 'tcp', 'protocol="tcp" template="RSYSLOG_SyslogProtocol23Format"'],
  ['TCP, by lines, in the old format with a new time', 'tcp', 'protocol="tcp" template="RSYSLOG_ForwardFormat"'],
  ['TCP, counted', 'tcp', 'protocol="tcp" TCP_Framing="octet-counted" template="RSYSLOG_SyslogProtocol23Format"'],
  [
    'TLS of OpenSSL, counted',
    'tls',
    `protocol="tcp" TCP_Framing="octet-counted" ${verified('ossl')} template="RSYSLOG_SyslogProtocol23Format"`,
  ],
  ['TLS of GnuTLS, by lines', 'tls', `protocol="tcp" ${verified('gtls')} template="RSYSLOG_TraditionalForwardFormat"`],
])(
  'receives every message of rsyslog over %s once and intact',

  async (_name, transport, action) => {
    const type = loadCatalog().get('input', 'monad-syslog');
    if (!type) throw new Error('no type');
    const port = await freePort();
    const listen = { host: '127.0.0.1', port, tls: certificate };
    const context = { type, egress: createEgress({ allow: [] }), clock: systemClock, listen };
    const input = monadSyslogInput.createInput?.({ settings: {}, secrets: {} }, context);
    if (input?.kind !== 'push') throw new Error('no push');
    const sink = new RecordingSink();
    await input.start?.(sink);
    onTestFinished(() => input.close?.());

    // Pause after each hundred datagrams: the operating system drops those that exceed its receive
    // buffer.
    const pace = transport === 'udp' ? 'queue.dequeueSlowdown="200"' : '';
    const rsyslog = await startRsyslog(
      messages,
      `action(type="omfwd" target="localhost" port="${port}" ${action} ${pace})`,
      files,
    );
    onTestFinished(() => rsyslog.stop());
    const ours = () => sink.records.filter((record) => record['app_name'] === 'shop');
    await expect.poll(() => ours().length || rsyslog.output()).toBe(COUNT);
    expect(ours().map(({ message }) => message)).toEqual(messages);
    for (const record of ours()) {
      expect(record).toMatchObject({ transport, facility_name: 'local3', severity_name: 'notice', peer: '127.0.0.1' });
      expect(Math.abs(Date.parse(String(record['timestamp'])) - Date.now())).toBeLessThan(26 * 3_600_000);
      expect(record['parse_error']).toBeUndefined();
    }
  },
);
