/**
 * Senders that others wrote: Fluentd's own client for Node.js, a client of Logstash from npm, and
 * Unbound, a name server.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { exampleConfig, loadCatalog } from '@connector-frame/catalog';
import { type ListenAt, systemClock } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import { RecordingSink } from '@connector-frame/engine/testing';
import { FluentClient, type EventModes } from '@fluent-org/logger';
import { encode } from '@msgpack/msgpack';
import { encode as encodeDns } from 'dns-packet';
import LumberjackClient from 'lumberjack-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCertificate } from '../../../../../test/support/certificate.js';
import { freePort } from '../../../../../test/support/free-port.js';
import { startUnbound } from '../../../../../test/support/unbound.js';
import { connectors } from '../../index.js';

const HOST = '127.0.0.1';

async function listening(typeId: string, settings: object = {}, secrets: object = {}, tls?: ListenAt['tls']) {
  const type = loadCatalog().get('input', typeId);
  if (!type) throw new Error('no type');
  const listen = { host: HOST, port: await freePort(), ...(tls && { tls }) };
  const base = exampleConfig(type.config);
  const config = { settings: { ...base.settings, ...settings }, secrets: { ...base.secrets, ...secrets } };
  const context = { type, egress: createEgress({ allow: [] }), clock: systemClock, listen };
  const input = connectors(type).createInput?.(config, context);
  if (input?.kind !== 'push') throw new Error('no push input');
  const sink = new RecordingSink();
  await input.start?.(sink);
  onTestFinished(() => input.close?.());
  return { port: listen.port, sink };
}

async function tcp(port: number): Promise<Socket> {
  const socket = connectTcp(port, HOST);
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.resume();
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
  });

describe('Fluentd', () => {
  it.each(['Message', 'Forward', 'PackedForward', 'CompressedPackedForward'] satisfies EventModes[])(
    'gets an acknowledgment for events in mode %s',
    async (eventMode) => {
      const { port, sink } = await listening('fluentd');
      const client = new FluentClient('app', { socket: { host: HOST, port }, eventMode, ack: {} });
      onTestFinished(() => client.shutdown());
      const sent = [
        client.emit('web', { n: 1, text: 'ü' }),
        client.emit('web', { n: 2, deep: { list: [true, null] } }),
      ];
      await client.flush();
      await Promise.all(sent);
      expect(sink.records).toEqual([
        { tag: 'app.web', timestamp: expect.stringMatching(/^20.*Z$/), n: 1, text: 'ü' },
        { tag: 'app.web', timestamp: expect.stringMatching(/^20.*Z$/), n: 2, deep: { list: [true, null] } },
      ]);
    },
  );

  it('gets no acknowledgment before the records are stored', async () => {
    const { port, sink } = await listening('fluentd');
    sink.full = true;
    const socket = await tcp(port);
    let replied = false;
    socket.once('data', () => (replied = true));
    socket.write(encode(['app', 1_441_588_984, { message: 'foo' }, { chunk: 'p8n9gmxTQVC8/nh2wlKKeQ==' }]));
    await vi.waitFor(() => expect(sink.appends).toBe(1));
    expect(replied).toBe(false);
    sink.full = false;
    await vi.waitFor(() => expect(replied).toBe(true));
    expect(sink.records).toEqual([{ tag: 'app', timestamp: '2015-09-07T01:23:04.000Z', message: 'foo' }]);
  });

  it('keeps numbers and keys that JSON or JavaScript treat differently', async () => {
    const { port, sink } = await listening('fluentd');
    const socket = await tcp(port);
    const record = { big: 2n ** 63n - 1n, bytes: new Uint8Array([0xff, 0xfe]), ['__proto__x']: 1 };
    socket.write(encode(null));
    socket.write(encode(['app', 1, record], { useBigInt64: true }));
    // {"__proto__": 1}
    socket.write(
      Buffer.concat([
        Buffer.from([0x93]),
        encode('app'),
        encode(1),
        Buffer.from([0x81]),
        encode('__proto__'),
        encode(1),
      ]),
    );
    await vi.waitFor(() => expect(sink.lines).toHaveLength(2));
    expect(sink.records[0]).toMatchObject({ big: '9223372036854775807', bytes: '//4=', ['__proto__x']: 1 });
    expect(sink.records[1]).toMatchObject({ __proto: 1 });
  });

  it.each([
    ['a request of HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a list of four billion', Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff])],
    ['a text of four gigabytes', Buffer.from([0x92, 0xdb, 0xff, 0xff, 0xff, 0xff])],
    ['invalid gzip', Buffer.from(encode(['app', new Uint8Array([1, 2]), { compressed: 'gzip' }]))],
    ['no record', Buffer.from(encode(['app', 1, 'x']))],
    ['deep nesting', Buffer.from(`93a361707001${'81a161'.repeat(5_000)}01`, 'hex')],
  ])('is disconnected after %s, which the log says', async (_name, bytes) => {
    const { port, sink } = await listening('fluentd');
    const socket = await tcp(port);
    socket.write(bytes);
    await closed(socket);
    expect(sink.lines).toEqual([]);
    expect(sink.notes).toMatchObject([{ level: 'warn', code: 'protocol_error' }]);
  });

  it('uses TLS with the certificate of the settings, and nothing else if it is required', async () => {
    const certificate = createCertificate(HOST);
    const tls = { enabled: true, crt_file: certificate.cert };
    const { port, sink } = await listening('fluentd', { tls }, { key_file: certificate.key });
    const plain = await tcp(port);
    plain.write(encode(['app', 1, {}]));
    await closed(plain);
    const secure = connectTls({ port, host: HOST, ca: certificate.cert, servername: '' });
    onTestFinished(() => void secure.destroy());
    await once(secure, 'secureConnect');
    secure.write(encode(['app', 1, { secure: true }]));
    await vi.waitFor(() => expect(sink.records).toMatchObject([{ secure: true }]));
    expect(sink.notes).toMatchObject([{ code: 'plain_refused' }]);
  });

  it('needs a certificate of the authority, if the settings say so', async () => {
    const own = createCertificate(HOST);
    const allowed = createCertificate('sender');
    const foreign = createCertificate('sender');
    const tls = { enabled: true, crt_file: own.cert, ca_file: allowed.cert, verify_certificate: true };
    const { port, sink } = await listening('fluentd', { tls }, { key_file: own.key });
    for (const client of [undefined, foreign, allowed]) {
      const secure = connectTls({ port, host: HOST, rejectUnauthorized: false, ...client });
      secure.on('error', () => undefined);
      secure.write(encode(['app', 1, { allowed: client === allowed }]));
      if (client !== allowed) await closed(secure);
      onTestFinished(() => void secure.destroy());
    }
    await vi.waitFor(() => expect(sink.lines).toHaveLength(1));
    expect(sink.records).toMatchObject([{ allowed: true }]);
  });
});

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const window = (size: number): Buffer => Buffer.concat([Buffer.from('2W'), number(size)]);
const event = (sequence: number, text: string): Buffer =>
  Buffer.concat([Buffer.from('2J'), number(sequence), number(Buffer.byteLength(text)), Buffer.from(text)]);

describe('Lumberjack', () => {
  it('receives what a client of Logstash sends, compressed', async () => {
    const { port, sink } = await listening('logstash');
    const client = new LumberjackClient({ host: HOST, port });
    onTestFinished(() => {
      client.socket?.removeAllListeners();
      client.socket?.destroy();
    });
    client.log({ message: 'one', n: 1 });
    client.log({ message: 'zwei ü' });
    await vi.waitFor(() => expect(sink.records).toEqual([{ message: 'one', n: 1 }, { message: 'zwei ü' }]));
  });

  it('acknowledges the last event of a window once all are stored, and keeps the sender waiting before', async () => {
    const { port, sink } = await listening('logstash');
    sink.full = true;
    const socket = await tcp(port);
    const replies: string[] = [];
    socket.on('data', (bytes: Buffer) => replies.push(bytes.toString('hex')));
    socket.write(Buffer.concat([window(2), event(7, '{"n":12345678901234567890}')]));
    const second = event(8, '{"n":2}');
    socket.write(second.subarray(0, 5));
    socket.write(second.subarray(5));
    await vi.waitFor(() => expect(sink.appends).toBe(1));
    expect(replies).toEqual([]);
    sink.full = false;
    await vi.waitFor(() => expect(replies).toEqual(['324100000008']));
    expect(sink.lines).toEqual(['{"n":12345678901234567890}', '{"n":2}']);
  });

  it('receives events of version 1, which are keys and values', async () => {
    const { port, sink } = await listening('logstash');
    const socket = await tcp(port);
    const texts = ['line', 'hello', 'file', '/var/log/x'].flatMap((text) => [number(text.length), Buffer.from(text)]);
    socket.write(Buffer.concat([Buffer.from('1W'), number(1), Buffer.from('1D'), number(1), number(2), ...texts]));
    const [reply]: unknown[] = await once(socket, 'data');
    expect(Buffer.isBuffer(reply) && reply.toString('latin1')).toBe('1A\0\0\0\u0001');
    expect(sink.records).toEqual([{ line: 'hello', file: '/var/log/x' }]);
  });

  it.each([
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['an event without a window', event(1, '{}')],
    ['an endless window', window(4_294_967_295)],
    ['a huge event', Buffer.concat([window(1), Buffer.from('2J'), number(1), number(4_294_967_295)])],
    ['no object', Buffer.concat([window(1), event(1, '[1]')])],
    ['invalid compression', Buffer.concat([Buffer.from('2C'), number(3), Buffer.from('xyz')])],
  ])('disconnects after %s', async (_name, bytes) => {
    const { port, sink } = await listening('logstash');
    const socket = await tcp(port);
    socket.write(bytes);
    await closed(socket);
    expect([sink.lines, sink.notes.map(({ code }) => code)]).toEqual([[], ['protocol_error']]);
  });
});

describe('dnstap', () => {
  it('receives the queries and responses of Unbound', async () => {
    const { port, sink } = await listening('dnstap', { port_key: 'sender_port' });
    const dnsPort = await freePort();
    const unbound = await startUnbound(dnsPort, port);
    onTestFinished(() => unbound.stop());
    const socket = createSocket('udp4');
    onTestFinished(() => void socket.close());
    const query = encodeDns({
      type: 'query',
      id: 4711,
      flags: 0x100,
      questions: [{ type: 'A', name: 'www.acme.example' }],
    });
    await vi.waitFor(
      () => {
        socket.send(query, dnsPort, HOST);
        expect(sink.records.some((record) => record['message_type'] === 'CLIENT_RESPONSE')).toBe(true);
      },
      { timeout: 20_000, interval: 200 },
    );
    const [asked] = sink.records.filter((record) => record['message_type'] === 'CLIENT_QUERY');
    expect(asked).toMatchObject({
      server_identity: 'ns1.acme.example',
      socket_family: 'INET',
      socket_protocol: 'UDP',
      query_address: HOST,
      query_time: expect.stringMatching(/^20\d\d-.*\.\d{9}Z$/),
      query: {
        id: 4711,
        flags: { qr: false, rd: true },
        questions: [{ name: 'www.acme.example', type: 'A', class: 'IN' }],
      },
      peer: HOST,
      sender_port: expect.any(Number),
    });
    const [answered] = sink.records.filter((record) => record['message_type'] === 'CLIENT_RESPONSE');
    expect(answered).toMatchObject({
      response: {
        rcode: 'NOERROR',
        flags: { qr: true, aa: true },
        answers: [{ name: 'www.acme.example', type: 'A', ttl: 300, data: '192.0.2.7' }],
      },
    });
  });

  it.each([
    ['data without a start', '00000004deadbeef'],
    ['a huge control frame', '00000000ffffffff'],
    ['another content type', '0000000000000010000000020000000100000004706c6169'],
  ])('disconnects after %s', async (_name, hex) => {
    const { port, sink } = await listening('dnstap');
    const socket = await tcp(port);
    socket.write(Buffer.from(hex, 'hex'));
    await closed(socket);
    expect([sink.lines, sink.notes.map(({ code }) => code)]).toEqual([[], ['protocol_error']]);
  });

  it('keeps what it can not read', async () => {
    const { port, sink } = await listening('dnstap');
    const socket = await tcp(port);
    socket.write(Buffer.from('000000000000000400000002', 'hex'));
    socket.write(Buffer.from('00000003ffffff', 'hex'));
    await vi.waitFor(() => expect(sink.records).toMatchObject([{ parse_error: 'dnstap', dnstap: '////' }]));
    // STOP is answered with FINISH.
    socket.write(Buffer.from('000000000000000400000003', 'hex'));
    const [reply]: unknown[] = await once(socket, 'data');
    expect(Buffer.isBuffer(reply) && reply.toString('hex')).toBe('000000000000000400000005');
  });
});
