import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { freePort } from '../../../../test/support/free-port.js';
import { startRsyslog, type Rsyslog } from '../../../../test/support/rsyslog.js';
import { createEgress } from '@connector-frame/engine/egress';
import { type ConnectorCode, createBatch, systemClock } from '@connector-frame/engine/connector-api';
import { readQradarTarget } from './config.js';
import { frame } from './format.js';
import { papertrailOutput, qradarOutput, syslogOutput } from './index.js';

// Against a real rsyslog of Debian, which parses what it gets and writes the parts to a file.

let folder: string;
let ports: [tcp: number, tls: number];
let ca: string;
let rsyslogs: Rsyslog[] = [];

const PARTS = '%pri%|%timestamp:::date-rfc3339%|%hostname%|%app-name%|%msg%\\n';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'syslog-'));
  const first = await freePort(2);
  ports = [first, first + 1];
  const { cert, key } = createCertificate('127.0.0.1');
  ca = cert;
  await writeFile(join(folder, 'cert.pem'), cert);
  await writeFile(join(folder, 'key.pem'), key);
  const start = (name: string, port: number, tls: string) =>
    startRsyslog(
      [],
      `${tls && `global(defaultNetstreamDriverCAFile="${folder}/cert.pem" defaultNetstreamDriverCertFile="${folder}/cert.pem" defaultNetstreamDriverKeyFile="${folder}/key.pem")`}
global(maxMessageSize="64k")
template(name="parts" type="string" string="${PARTS}")
template(name="raw" type="string" string="%rawmsg%\\n")
module(load="imtcp" ${tls})
ruleset(name="keep") {
  action(type="omfile" file="${folder}/${name}" template="parts" flushOnTXEnd="on")
  action(type="omfile" file="${folder}/${name}.raw" template="raw" flushOnTXEnd="on")
}
input(type="imtcp" address="127.0.0.1" port="${port}" ruleset="keep")`,
    );
  rsyslogs = [
    await start('tcp', ports[0], ''),
    await start('tls', ports[1], 'StreamDriver.Name="ossl" StreamDriver.Mode="1" StreamDriver.AuthMode="anon"'),
  ];
});
afterAll(async () => {
  await Promise.all(rsyslogs.map((rsyslog) => rsyslog.stop()));
  await rm(folder, { recursive: true, force: true });
});

const egress = createEgress({ allow: ['127.0.0.0/8'] });
const signal = () => new AbortController().signal;
const received = async (name: string): Promise<string[]> =>
  (await readFile(join(folder, name), 'utf8').catch(() => '')).split('\n').slice(0, -1);

/** Writes lines, once the receiver listens, and returns what it has received since. */
async function write(code: ConnectorCode, type: string, settings: object, file: string, lines: string[]) {
  const before = (await received(file)).length;
  const output = code.createOutput?.(
    { settings: { ...settings }, secrets: {} },
    { type: typeOf(type), egress, clock: systemClock },
  );
  onTestFinished(() => output?.close?.());
  await expect
    .poll(
      () =>
        output?.open?.(signal()).then(
          () => true,
          () => false,
        ),
      { timeout: 10_000 },
    )
    .toBe(true);
  expect(await output?.write(createBatch('b', lines), signal())).toEqual({});
  await expect.poll(() => received(file), { timeout: 10_000 }).toHaveLength(before + lines.length);
  return (await received(file)).slice(before);
}

const lines = ['{"n":1,"text":"ü = \\\\"}', '{"n":2}'];
const tcp = () => ({ host: '127.0.0.1', port: ports[0], protocol: 'tcp' });

test('rsyslog reads the parts of RFC 5424 and RFC 3164', async () => {
  const year = new Date().getUTCFullYear();
  for (const format of ['rfc5424', 'rfc3164']) {
    const [first = '', second = ''] = await write(syslogOutput, 'output:syslog', { ...tcp(), format }, 'tcp', lines);
    const [priority, time, host, program, ...message] = first.split('|');
    expect([priority, host, program, message.join('|').trimStart()]).toEqual([
      '14',
      'connector-frame',
      'connector-frame',
      lines[0],
    ]);
    expect(time).toMatch(new RegExp(`^(?:${year}|${year - 1})-`));
    expect(second).toContain('{"n":2}');
  }
});

test('CEF escapes what it reserves, and raw lines are sent as they are', async () => {
  const cef = await write(syslogOutput, 'output:syslog', { ...tcp(), format: 'cef' }, 'tcp.raw', lines);
  expect(cef[0]).toMatch(/^<14>\w{3} [ \d]\d [\d:]{8} connector-frame CEF:0\|/);
  // The example of the format: `\\` for a backslash, and `\=` for an equals sign.
  expect(cef[0]?.split('|msg=')[1]).toBe('{"n":1,"text":"ü \\= \\\\\\\\"}');
  expect(await write(syslogOutput, 'output:syslog', { ...tcp(), format: 'raw' }, 'tcp.raw', lines)).toEqual(lines);
});

test('Papertrail gets its lines over TLS, with the name of the program', async () => {
  const settings = {
    endpoint: `127.0.0.1:${ports[1]}`,
    process: 'my app',
    tls: { enabled: true, ca_file: ca },
  };
  const [first] = await write(papertrailOutput, 'output:papertrail', settings, 'tls', lines);
  expect(first).toContain(`|connector-frame|my-app|`);
  expect(first).toContain(lines[0]);
});

test('QRadar gets one event per line', async () => {
  const settings = { endpoint: '127.0.0.1', port: ports[0], protocol: 'tcp' };
  const [first] = await write(qradarOutput, 'output:ibm-qradar', settings, 'tcp', lines);
  expect(first).toContain(`|${lines[0]}`);
  // Over TLS as well: https://www.ibm.com/docs/en/dsm?topic=options-tls-syslog-protocol-configuration
  const secure = { settings: { ...settings, protocol: 'tls' }, secrets: {} };
  expect(readQradarTarget(secure)).toMatchObject({ countsOctets: false, address: { host: '127.0.0.1', tls: {} } });
});

test('an output connects again after the receiver has closed the connection', async () => {
  const received: string[] = [];
  const receiver = createServer((socket) => {
    socket.once('data', (chunk) => {
      received.push(chunk.toString());
      socket.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const port = Number(Object(receiver.address()).port);
  const context = { type: typeOf('output:syslog'), egress, clock: systemClock };
  const output = syslogOutput.createOutput?.({ settings: { ...tcp(), port, format: 'raw' }, secrets: {} }, context);
  onTestFinished(() => output?.close?.());
  const send = (line: string) => output?.write(createBatch('b', [line]), signal());
  await send('{"n":1}');
  await expect.poll(() => received).toEqual(['{"n":1}\n']);
  // The end of the first connection arrives before the answer of a later one.
  const other = connect(port, '127.0.0.1');
  other.write('x');
  await once(other, 'close');
  await send('{"n":2}');
  await expect.poll(() => received.at(-1)).toBe('{"n":2}\n');
  receiver.close();
  await once(receiver, 'close');
  await expect(
    (async () => {
      for (let n = 0; n < 50; n += 1) await send('{"n":3}');
    })(),
  ).rejects.toMatchObject({ code: 'connect_failed', kind: 'retry' });
});

test('frames begin with the number of bytes, or end with a line break', () => {
  expect(frame('<14>1 ü', true)).toBe('8 <14>1 ü');
  expect(frame('<14>1 ü', false)).toBe('<14>1 ü\n');
});

const outcome = (settings: object) =>
  syslogOutput.testConnection?.(
    { settings: { ...tcp(), format: 'raw', ...settings }, secrets: {} },
    { egress, signal: signal() },
  );

test('a connection test connects, and says what is not possible', async () => {
  await expect.poll(() => outcome({}), { timeout: 10_000 }).toEqual({ ok: true, summary: 'Connected.' });
  expect(await outcome({ protocol: 'udp' })).toMatchObject({
    reason: 'invalid_config',
    issues: [{ path: '/settings/protocol' }],
  });
  await expect
    .poll(() => outcome({ protocol: 'tls', port: ports[1] }), { timeout: 10_000 })
    .toMatchObject({ reason: 'tls_failed' });
});
