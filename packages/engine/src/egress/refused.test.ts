/** S10, S35: what test-connection must reject, tested on real sockets. */
import diagnostics from 'node:diagnostics_channel';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listenHttp, listenTcp, type Listener } from '../../../../test/support/listener.js';
import { keepToLoopback, type Leash } from '../../../../test/support/loopback-only.js';
import { closedAddresses, internalNames, loopbackForms } from '../../../../test/support/ssrf/corpus.js';
import { createEgress } from './index.js';

/** A public address that stands for "allowed" in tests that must not connect. */
const PUBLIC = '93.184.216.34';

let everywhere: Listener;
/** Blocks connections to other machines if the address check is broken. */
let leash: Leash;
let dialled = 0;
/** Counts connections of the guard and of `fetch`, and none that other tests of this process left open. */
const countDial = (): void => {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 50;
  const { stack = '' } = new Error('dialled');
  Error.stackTraceLimit = limit;
  if (/egress\/(?!refused)|undici/.test(stack)) dialled += 1;
};

beforeAll(async () => {
  leash = keepToLoopback();
  everywhere = await listenTcp((socket) => socket.once('data', () => socket.destroy()), '0.0.0.0');
  diagnostics.subscribe('net.client.socket', countDial);
});
afterAll(async () => {
  diagnostics.unsubscribe('net.client.socket', countDial);
  leash.release();
  await everywhere.close();
});
beforeEach(() => {
  dialled = 0;
});

async function expectRefused(attempt: Promise<unknown>): Promise<void> {
  const hits = everywhere.connections();
  await expect(attempt).rejects.toMatchObject({ name: 'EgressError', reason: 'egress_refused' });
  expect(dialled).toBe(0);
  expect(everywhere.connections()).toBe(hits);
}

const neverAsked = (name: string): Promise<string[]> => Promise.reject(new Error(`${name} was looked up`));
const answering =
  (...answers: string[]) =>
  (): Promise<string[]> =>
    Promise.resolve(answers);
const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

describe('what the guard refuses (S10, S35)', () => {
  test('connections of a request without the guard are counted (positive control)', async () => {
    const hits = everywhere.connections();
    await expect(fetch(`http://2130706433:${everywhere.port}/`)).rejects.toThrow();
    expect(everywhere.connections()).toBe(hits + 1);
    expect(dialled).toBe(1);
  });

  test('connections to other machines are blocked in this test', async () => {
    const attempt = createEgress({ allow: ['192.0.2.1/32'] }).connect({ host: '192.0.2.1', port: 80 });
    await expect(attempt).rejects.toMatchObject({ reason: 'connect_failed' });
    expect(leash.heldBack).toEqual(['192.0.2.1']);
  });

  test.each(closedAddresses)('%s is refused as a literal in a URL', (address) =>
    expectRefused(
      createEgress({ allow: [], lookup: neverAsked }).fetch(`http://${bracketed(address)}:${everywhere.port}/`),
    ),
  );

  test.each(closedAddresses)('%s is refused as a literal for a socket', (address) =>
    expectRefused(createEgress({ allow: [], lookup: neverAsked }).connect({ host: address, port: everywhere.port })),
  );

  test.each(closedAddresses)('%s is refused as what a name resolves to', (address) =>
    expectRefused(
      createEgress({ allow: [], lookup: answering(address) }).fetch(`http://example.com:${everywhere.port}/`),
    ),
  );

  test.each(closedAddresses)('%s is refused beside an open address, in either order', async (address) => {
    const first = createEgress({ allow: [], lookup: answering(address, PUBLIC) });
    const last = createEgress({ allow: [], lookup: answering(PUBLIC, address) });
    await expectRefused(first.connect({ host: 'example.com', port: everywhere.port }));
    await expectRefused(last.connect({ host: 'example.com', port: everywhere.port }));
  });

  test.each(loopbackForms)('%s is refused like 127.0.0.1', async (host) => {
    const egress = createEgress({ allow: [], lookup: neverAsked });
    await expectRefused(egress.fetch(`http://${host}:${everywhere.port}/`));
    await expectRefused(egress.connect({ host, port: everywhere.port }));
  });

  test('percent-encoded digits are refused like 127.0.0.1', () =>
    expectRefused(createEgress({ allow: [], lookup: neverAsked }).fetch(`http://%31%32%37.0.0.1:${everywhere.port}/`)));

  test.each(internalNames)('%s is refused for any resolved address', async (host) => {
    for (const address of [PUBLIC, '2606:2800:220:1::1', '127.0.0.1']) {
      const egress = createEgress({ allow: [], lookup: answering(address) });
      await expectRefused(egress.fetch(`http://${host}:${everywhere.port}/`));
      await expectRefused(egress.connect({ host, port: everywhere.port }));
    }
  });

  test('localhost is refused through the real resolver', () =>
    expectRefused(createEgress({ allow: [] }).fetch(`http://localhost:${everywhere.port}/`)));

  test.each(['localhost', '127.0.0.1%lo', 'fe80::1%eth0', '0x7f.1', '127.1', '', 'example.com', '8.8.8.010'])(
    'rejects "%s" as a response of the resolver',
    (answer) =>
      expectRefused(createEgress({ allow: [], lookup: answering(answer) }).connect({ host: 'example.com', port: 80 })),
  );

  test.each(['127.0.0.1', '[::1]', '169.254.169.254', 'metadata.google.internal', 'other.example'])(
    'a redirect to %s is not followed',
    async (host) => {
      const target = `http://${host}:${everywhere.port}/`;
      const start = await listenHttp(
        (_request, response) => response.writeHead(302, { location: target }).end(),
        '127.0.0.2',
      );
      const egress = createEgress({ allow: ['127.0.0.2/32'], lookup: answering('127.0.0.1') });
      const hits = everywhere.connections();
      await expect(egress.fetch(`${start.origin}/`)).rejects.toMatchObject({ reason: 'redirected' });
      expect(everywhere.connections()).toBe(hits);
      expect(start.connections()).toBe(1);
      await start.close();
    },
  );

  test('a name that turns to a closed address after the first hop is refused on the second', async () => {
    const start = await listenHttp(
      (_request, response) => response.writeHead(302, { location: '/next' }).end(),
      '0.0.0.0',
    );
    const answers = ['127.0.0.2', '127.0.0.1'];
    const egress = createEgress({ allow: ['127.0.0.2/32'], lookup: () => Promise.resolve([answers.shift() ?? '']) });
    const attempt = egress.fetch(`http://rebind.example:${start.port}/`);
    await expect(attempt).rejects.toMatchObject({ reason: 'egress_refused' });
    expect(start.connections()).toBe(1);
    expect(dialled).toBe(1);
    await start.close();
  });

  test('a name is resolved once per connection, and the socket goes to that answer', async () => {
    const seen: (string | undefined)[] = [];
    const server = await listenTcp((socket) => seen.push(socket.localAddress), '0.0.0.0');
    const answers = ['127.0.0.2', '127.0.0.1', '127.0.0.1'];
    let asked = 0;
    const lookup = (): Promise<string[]> => Promise.resolve([answers[asked++] ?? '']);
    const socket = await createEgress({ allow: ['127.0.0.2/32'], lookup }).connect({
      host: 'rebind.example',
      port: server.port,
    });
    expect(asked).toBe(1);
    expect(socket.remoteAddress).toBe('127.0.0.2');
    await expect.poll(() => seen).toEqual(['127.0.0.2']);
    socket.destroy();
    await server.close();
  });

  test.each([
    { allow: ['127.0.0.1/32'], host: '127.0.0.1' },
    { allow: ['127.0.0.0/8'], host: '127.9.9.9' },
    { allow: ['127.0.0.0/8'], host: '0x7f.1' },
    { allow: ['127.0.0.0/8'], host: '[::ffff:127.0.0.1]' },
    { allow: ['0.0.0.0/0'], host: '127.0.0.1' },
  ])('$allow opens $host', async ({ allow, host }) => {
    const socket = await createEgress({ allow, lookup: neverAsked }).connect({ host, port: everywhere.port });
    socket.destroy();
    expect(dialled).toBe(1);
  });

  test('an allowed range applies to internal names', async () => {
    const egress = createEgress({ allow: ['127.0.0.0/8'], lookup: answering('127.0.0.1') });
    for (const host of ['localhost', 'db.internal', 'printer.local']) {
      (await egress.connect({ host, port: everywhere.port })).destroy();
    }
    expect(dialled).toBe(3);
  });

  test.each([
    { allow: ['127.0.0.2/32'], host: '127.0.0.1' },
    { allow: ['10.0.0.0/8'], host: '127.0.0.1' },
    { allow: ['::1/128'], host: '127.0.0.1' },
    { allow: ['2002::/16'], host: '2002:7f00:1::' },
    { allow: ['2001::/32'], host: '2001:0:4136:e378:8000:63bf:80ff:fffe' },
    { allow: ['::ffff:0:0/96'], host: '::ffff:127.0.0.1' },
    { allow: ['64:ff9b::/96'], host: '64:ff9b::a9fe:a9fe' },
  ])('$allow does not open $host', ({ allow, host }) =>
    expectRefused(createEgress({ allow, lookup: neverAsked }).connect({ host, port: everywhere.port })),
  );

  test.each(['10.0.0.1', '10.0.0.0/33', 'localhost', '', '10.0.0.0/'])(
    'rejects "%s" as a range and quotes it',
    (cidr) => {
      expect(() => createEgress({ allow: [cidr] })).toThrow(`"${cidr}" is no CIDR range`);
    },
  );
});
