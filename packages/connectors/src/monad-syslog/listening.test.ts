import { createSocket } from 'node:dgram';
import { createServer, connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { loadCatalog } from '@connector-frame/catalog';
import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { freePort } from '../../../../test/support/free-port.js';
import { createEgress } from '@connector-frame/engine/egress';
import { type ListenAt, type PushInput, systemClock } from '@connector-frame/engine/connector-api';
import { RecordingSink } from '@connector-frame/engine/testing';
import { monadSyslogInput } from './index.js';
import { SyslogServer } from './syslog-server.js';

const HOST = '127.0.0.1';

function syslog(): ConnectorTypeData {
  const type = loadCatalog().get('input', 'monad-syslog');
  if (!type) throw new Error('no type');
  return type;
}

function input(listen: ListenAt, settings: Record<string, unknown> = {}): PushInput {
  const context = {
    type: syslog(),
    egress: createEgress({ allow: [] }),
    clock: systemClock,
    listen,
  };
  const made = monadSyslogInput.createInput?.({ settings, secrets: {} }, context);
  if (made?.kind !== 'push') throw new Error('no push');
  return made;
}

async function listening(
  options: { tls?: ListenAt['tls']; settings?: Record<string, unknown>; port?: number } = {},
): Promise<{ port: number; sink: RecordingSink; input: PushInput }> {
  const port = options.port ?? (await freePort());
  const sink = new RecordingSink();
  const made = input({ host: HOST, port, ...(options.tls && { tls: options.tls }) }, options.settings);
  await made.start?.(sink);
  onTestFinished(() => made.close?.());
  return { port, sink, input: made };
}

async function tcp(port: number): Promise<Socket> {
  const socket = connectTcp(port, HOST);
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function tls(port: number, options: ConnectionOptions = {}): Promise<Socket> {
  const socket = connectTls({ port, host: HOST, rejectUnauthorized: false, ...options });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

function udp(port: number, ...messages: string[]): void {
  const socket = createSocket('udp4');
  let left = messages.length;
  for (const message of messages)
    socket.send(message, port, HOST, () => {
      left -= 1;
      if (left === 0) socket.close();
    });
}

const codes = (sink: RecordingSink) => sink.notes.map(({ code }) => code);
const certificate = createCertificate('127.0.0.1');

describe('a port for syslog', () => {
  it('receives UDP, TCP and TLS, and records the transport', async () => {
    const { port, sink } = await listening({ tls: certificate });
    udp(port, '<13>Oct 11 22:14:15 host app: one', 'two');
    (await tcp(port)).end('<13>1 - - - - - - three\n17 <13>1 - - - - - -');
    (await tls(port, { ca: certificate.cert, rejectUnauthorized: true })).end('<14>1 - h - - - - four\n');
    await expect.poll(() => sink.lines.length).toBe(5);
    const seen = sink.records.map(({ transport, message, peer }) => [transport, message, peer].join(' '));
    expect(seen.toSorted()).toEqual([
      `tcp  ${HOST}`,
      `tcp three ${HOST}`,
      `tls four ${HOST}`,
      `udp one ${HOST}`,
      `udp two ${HOST}`,
    ]);
    expect(sink.records.every(({ received_at: at }) => Math.abs(Date.now() - Date.parse(String(at))) < 60_000)).toBe(
      true,
    );
    expect(sink.records.find(({ message }) => message === 'two')).toMatchObject({ parse_error: 'no_priority' });
  });

  it('marks messages longer than 64 KiB', async () => {
    const { port, sink } = await listening();
    (await tcp(port)).end(`<13>1 - - - - - - ${'x'.repeat(100_000)}\n<13>1 - - - - - - whole\n`);
    await expect.poll(() => sink.lines.length).toBe(2);
    expect(sink.records.map(({ truncated, message }) => [truncated, String(message).length > 60_000])).toEqual([
      [true, true],
      [undefined, false],
    ]);
  });

  it('accepts bytes that are not UTF-8', async () => {
    const { port, sink } = await listening();
    (await tcp(port)).end(
      Buffer.concat([Buffer.from('<13>1 - - - - - - a'), Buffer.of(0xff, 0xfe), Buffer.from('b\n')]),
    );
    await expect.poll(() => sink.messages).toEqual(['a\ufffd\ufffdb']);
  });

  it('a broken connection does not affect other senders', async () => {
    const { port, sink } = await listening({ tls: certificate });
    const good = await tcp(port);
    for (let n = 0; n < 20; n += 1) {
      const bad = await tcp(port);
      bad.write(n % 2 === 0 ? '<13>half a mess' : Buffer.of(22, 3, 1, 255, 255, 0, n));
      bad.resetAndDestroy();
    }
    await tcp(port);
    good.write('<13>1 - - - - - - still here\n');
    await expect.poll(() => sink.messages).toContain('still here');
    await expect.poll(() => codes(sink)).toContain('tls_failed');
  });
});

describe('while the buffer is full', () => {
  it('keeps tiny messages as received bytes while they wait', async () => {
    let made = 0;
    const clock = { ...systemClock, now: () => ((made += 1), Date.now()) };
    const sink = new RecordingSink();
    sink.full = true;
    const server = new SyslogServer({ at: { host: HOST, port: 0 }, clock });
    server.join(sink);
    const port = await server.open();
    onTestFinished(() => server.leave(sink).then(() => undefined));
    for (let n = 0; n < 12; n += 1) (await tcp(port)).write('ab\n'.repeat(20_000));
    // Wait until one more append has been rejected after its full wait for buffer space: by then,
    // all data has arrived.
    const { appends } = sink;
    await expect.poll(() => sink.appends).toBeGreaterThan(appends + 1);
    // Of 240,000 messages, only those that fit in the queue and one more chunk became records.
    expect(made).toBeLessThan(60_000);
  });

  it('pauses streams without losing or duplicating messages', async () => {
    const { port, sink } = await listening();
    sink.full = true;
    const socket = await tcp(port);
    const count = 60_000;
    const lines = Array.from({ length: count }, (_, n) => `<13>1 - - - - - - ${n} ${'x'.repeat(200)}\n`).join('');
    socket.end(lines);
    await expect.poll(() => sink.appends).toBeGreaterThan(2);
    // The sender is blocked: what it has sent is in the socket buffers, not in our memory.
    const sent = socket.bytesWritten - socket.writableLength;
    expect(sent).toBeLessThan(lines.length);
    sink.full = false;
    await expect.poll(() => sink.lines.length).toBe(count);
    expect(sink.messages.map((message) => Number(String(message).split(' ')[0]))).toEqual(
      Array.from({ length: count }, (_, n) => n),
    );
  });

  it('waits briefly for UDP, then counts and logs the loss', async () => {
    const { port, sink } = await listening();
    sink.full = true;
    const long = `<13>1 - - - - - - ${'x'.repeat(8_000)}`;
    const sent = 2_000;
    for (let n = 0; n < sent; n += 1) {
      udp(port, long);
      if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await expect.poll(() => codes(sink)).toContain('udp_lost');
    sink.full = false;
    await expect.poll(() => sink.lines.length).toBeGreaterThan(500);
    const logged = Number(/^[\d,]+/.exec(sink.notes[0]?.message ?? '')?.[0].replaceAll(',', ''));
    expect(logged).toBeGreaterThan(0);
    expect(sink.lines.length + logged).toBeLessThanOrEqual(sent);
  });
});

describe('with allowed certificates', () => {
  const allowed = createCertificate('sender');
  const { fingerprint256 } = new X509Certificate(allowed.cert);

  it('accepts only senders with an allowed certificate over TLS', async () => {
    const settings = { cert_fingerprints: [fingerprint256.toLowerCase()] };
    const { port, sink, input: made } = await listening({ tls: certificate, settings });
    udp(port, '<13>udp');
    const rejected = [await tcp(port), await tls(port), await tls(port, createCertificate('other'))];
    for (const socket of rejected) socket.write('<13>rejected\n');
    await expect.poll(() => rejected.map(({ closed }) => closed)).toEqual([true, true, true]);
    (await tls(port, allowed)).write('<13>1 - - - - - - allowed\n');
    await expect.poll(() => sink.messages).toEqual(['allowed']);
    // A resumed session must not bypass the certificate check.
    const first = connectTls({ port, host: HOST, rejectUnauthorized: false, ...allowed });
    const sessions: Buffer[] = [];
    first.on('session', (session) => sessions.push(session)).write('<13>1 - - - - - - again\n');
    await expect.poll(() => sink.messages).toContain('again');
    first.destroy();
    const [session] = sessions;
    const resumed = session ? [await tls(port, { session })] : [];
    for (const socket of resumed) {
      socket.write('<13>1 - - - - - - resumed\n');
      await expect.poll(() => socket.closed).toBe(true);
    }
    expect(sink.messages).not.toContain('resumed');

    // Closing logs what has not been logged. Depending on the clock, a cause is logged once or twice.
    await made.close?.();
    expect(new Set(codes(sink))).toEqual(new Set(['certificate_refused', 'plain_refused', 'udp_refused']));
    const refused = sink.notes.filter(({ code }) => code === 'certificate_refused');
    const connections = refused.reduce((sum, { message }) => sum + Number.parseInt(message), 0);
    expect(connections).toBe(2 + resumed.length);
  });

  it('require TLS', () => {
    expect(() => input({ host: HOST, port: 1 }, { cert_fingerprints: [fingerprint256] })).toThrow('no TLS for syslog');
  });
});

describe('one port for several pipelines', () => {
  it('delivers every message to each pipeline, even if another is full, until the last one leaves', async () => {
    const one = await listening();
    const two = await listening({ port: one.port });
    two.sink.full = true;
    const socket = await tcp(one.port);
    socket.write('<13>1 - - - - - - first\n');
    await expect.poll(() => one.sink.messages).toEqual(['first']);
    expect(two.sink.messages).toEqual([]);
    two.sink.full = false;
    await expect.poll(() => two.sink.messages).toEqual(['first']);
    await one.input.close?.();
    socket.write('<13>1 - - - - - - second\n');
    await expect.poll(() => two.sink.messages).toEqual(['first', 'second']);
    expect(one.sink.messages).toEqual(['first']);
    await two.input.close?.();
    await expect(tcp(one.port)).rejects.toThrow();
    const again = await listening({ port: one.port });
    udp(one.port, '<13>1 - - - - - - third');
    await expect.poll(() => again.sink.messages).toEqual(['third']);
  });

  it('reports a port in use, and can be retried', async () => {
    const port = await freePort();
    const other = createServer().listen(port, HOST);
    await once(other, 'listening');
    const waiting = input({ host: HOST, port });
    const sink = new RecordingSink();
    await expect(waiting.start?.(sink)).rejects.toMatchObject({ code: 'cannot_listen', kind: 'retry' });
    other.close();
    await once(other, 'close');
    await waiting.start?.(sink);
    udp(port, '<13>1 - - - - - - here');
    await expect.poll(() => sink.messages).toEqual(['here']);
    await waiting.close?.();
  });
});

describe('bounds', () => {
  it('closes idle connections above a thousand, but none that has sent a message', async () => {
    const { port, sink } = await listening();
    const speaker = await tcp(port);
    speaker.write('<13>1 - - - - - - hello\n');
    await expect.poll(() => sink.messages).toEqual(['hello']);
    const idle = await Promise.all(Array.from({ length: 1_050 }, () => tcp(port)));
    const late = await tcp(port);
    late.write('<13>1 - - - - - - late\n');
    await expect.poll(() => sink.messages).toContain('late');
    speaker.write('<13>1 - - - - - - still here\n');
    await expect.poll(() => sink.messages).toContain('still here');
    await expect
      .poll(() => idle.filter((socket) => socket.destroyed || socket.readableEnded).length)
      .toBeGreaterThan(20);
    await expect.poll(() => codes(sink)).toContain('too_many');
  });
});
