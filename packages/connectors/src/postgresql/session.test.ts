import { afterAll, expect, test } from 'vitest';
import { listenTcp, type Listener } from '../../../../test/support/listener.js';
import { runTester } from '../../../../test/support/run-tester.js';
import { createEgress } from '@connector-frame/engine/egress';
import type { TestOutcome } from '@connector-frame/engine/connector-api';
import { testPostgresqlInput } from './test-input.js';

const PASSWORD = 'canary-postgres-password';

function read(changes: Record<string, unknown>): Promise<TestOutcome> {
  const settings = {
    host: '127.0.0.1',
    database: 'postgres',
    username: 'reader',
    ssl_mode: { mode: 'prefer' },
    ...changes,
  };
  return runTester(testPostgresqlInput, { settings, secrets: { password: PASSWORD } });
}

const listeners: Listener[] = [];
afterAll(() => Promise.all(listeners.map((listener) => listener.close())));
async function speaking(first: string | Buffer, then?: string | Buffer): Promise<number> {
  const listener = await listenTcp((socket) => {
    socket.once('data', () => {
      socket.write(first);
      if (then !== undefined) socket.once('data', () => socket.end(then));
    });
  });
  listeners.push(listener);
  return listener.port;
}

test('a closed network is refused before a connection is made', async () => {
  const listener = await listenTcp(() => undefined);
  listeners.push(listener);
  const settings = { host: '127.0.0.1', port: listener.port, database: 'a', username: 'b' };
  const context = { egress: createEgress({ allow: [] }), signal: new AbortController().signal };
  expect(await testPostgresqlInput({ settings, secrets: {} }, context)).toMatchObject({
    reason: 'egress_refused',
    issues: [{ path: '/settings/host' }],
  });
  expect(listener.connections()).toBe(0);
});

test('something else than PostgreSQL', async () => {
  const unexpected = { reason: 'unexpected_answer', issues: [{ path: '/settings/host' }] };
  expect(await read({ port: await speaking('HTTP/1.1 400 Bad Request\r\n\r\n') })).toMatchObject(unexpected);
  expect(await read({ port: await speaking('N', 'SSH-2.0-OpenSSH_9.2\r\n') })).toMatchObject(unexpected);
  // More than one byte before TLS indicates a man-in-the-middle attack.
  expect(await read({ port: await speaking('Sinjected') })).toMatchObject(unexpected);
  expect(await read({ ssl_mode: { mode: 'require' }, port: await speaking('S', 'no handshake') })).toMatchObject({
    reason: 'tls_failed',
  });
});

test('an error of the server that echoes the password is not repeated', async () => {
  const fields = ['SERROR', `M${PASSWORD}`, `D${PASSWORD}`, `C${PASSWORD.slice(0, 5)}`]
    .map((field) => `${field}\0`)
    .join('');
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 5);
  const error = Buffer.concat([Buffer.from('E'), length, Buffer.from(`${fields}\0`)]);
  const outcome = await read({ port: await speaking('N', error) });
  expect(outcome).toMatchObject({ ok: false, reason: 'rejected' });
  expect(JSON.stringify(outcome)).not.toContain('canar');
});

test('a flood is cut off', async () => {
  const header = Buffer.from([0x54, 0x7f, 0xff, 0xff, 0xff]);
  const listener = await listenTcp((socket) => {
    socket.once('data', () => {
      socket.write('N');
      socket.once('data', () => {
        socket.write(header);
        const more = (): void =>
          void (socket.write(Buffer.alloc(65_536)) ? setImmediate(more) : socket.once('drain', more));
        more();
      });
    });
  });
  listeners.push(listener);
  expect(await read({ port: listener.port })).toMatchObject({ reason: 'unexpected_answer' });
});

test('a server that falls silent, or a caller that leaves, is a timeout', async () => {
  const silent = await listenTcp(() => undefined);
  listeners.push(silent);
  const settings = { host: '127.0.0.1', port: silent.port, database: 'a', username: 'b' };
  const controller = new AbortController();
  const pending = testPostgresqlInput(
    { settings, secrets: {} },
    { egress: createEgress({ allow: ['127.0.0.0/8'] }), signal: controller.signal },
  );
  await expect.poll(() => silent.connections()).toBe(1);
  controller.abort();
  expect(await pending).toMatchObject({ reason: 'timeout' });
});
