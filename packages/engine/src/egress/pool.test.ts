/** Connection reuse: what it saves, and what it must never change. */
import type { Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { listenHttp, listenTcp, type Listener } from '../../../../test/support/listener.js';
import { createEgress, type Egress, type EgressOptions } from './index.js';

const certificate = createCertificate('trusted.example', '127.0.0.1');
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
async function serving<L extends Listener>(starting: Promise<L>): Promise<L> {
  const listener = await starting;
  ends.push(() => listener.close());
  return listener;
}
function opened(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ allow: ['127.0.0.0/8'], lookup: () => Promise.resolve(['127.0.0.1']), ...options });
  ends.push(() => egress.close?.());
  return egress;
}

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
/**
 * A server whose response to the n-th request of a connection is `answer`; counts requests and open
 * connections.
 */
async function scripted(answer: (socket: Socket, n: number) => void) {
  let requests = 0;
  let open = 0;
  const listener = await serving(
    listenTcp((socket) => {
      let n = 0;
      open += 1;
      socket.once('close', () => (open -= 1));
      socket.on('data', () => {
        requests += 1;
        answer(socket, (n += 1));
      });
    }),
  );
  return { ...listener, requests: () => requests, open: () => open };
}

test('reuses one connection for sequential requests', async () => {
  const server = await serving(listenHttp((_request, response) => void response.end('ok')));
  const egress = opened();
  for (let n = 0; n < 5; n += 1) expect(await (await egress.fetch(server.origin)).text()).toBe('ok');
  await egress.fetch(server.origin, { method: 'POST', body: '1', repeatable: true });
  await egress.fetch(server.origin, { method: 'PUT', body: '1', discardBody: true });
  expect(server.connections()).toBe(1);
});

test('concurrent requests use a connection each; eight stay idle, for a short time', async () => {
  const server = await scripted((socket) => setTimeout(() => socket.write(ANSWER), 20));
  const egress = opened();
  await Promise.all(Array.from({ length: 12 }, () => egress.fetch(`http://127.0.0.1:${server.port}/`)));
  expect(server.connections()).toBe(12);
  await expect.poll(() => server.open()).toBe(8);
  await expect.poll(() => server.open()).toBe(0);
});

test('a name that changes to a closed address: the idle connection still works, a new one is refused', async () => {
  const seen: (string | undefined)[] = [];
  let socket: Socket | undefined;
  const server = await serving(
    listenHttp((request, response) => {
      seen.push(request.socket.localAddress);
      socket = request.socket;
      response.end();
    }, '0.0.0.0'),
  );
  const answers = ['127.0.0.2', '127.0.0.1'];
  const egress = opened({ allow: ['127.0.0.2/32'], lookup: () => Promise.resolve([answers.shift() ?? '']) });
  const address = `http://rebind.example:${server.port}/`;
  await egress.fetch(address);
  await egress.fetch(address);
  expect(seen).toEqual(['127.0.0.2', '127.0.0.2']);
  expect(answers).toHaveLength(1);
  socket?.destroy();
  await expect(egress.fetch(address)).rejects.toMatchObject({ reason: 'egress_refused' });
  expect(server.connections()).toBe(1);
});

test('keeps no state between requests', async () => {
  const seen: (string | undefined)[] = [];
  const server = await serving(
    listenHttp((request, response) => {
      seen.push(`${request.headers.authorization} ${String(request.headers['x-tenant'])} ${request.headers.cookie}`);
      response.setHeader('set-cookie', 'session=of-acme').end();
    }),
  );
  const egress = opened();
  await egress.fetch(server.origin, { headers: { authorization: 'Bearer acme', 'x-tenant': 'acme' } });
  await egress.fetch(server.origin, { headers: { authorization: 'Bearer other' } });
  await egress.fetch(server.origin);
  expect(seen).toEqual([
    'Bearer acme acme undefined',
    'Bearer other undefined undefined',
    'undefined undefined undefined',
  ]);
  expect(server.connections()).toBe(1);
});

test('does not share connections between TLS settings', async () => {
  const server = await serving(listenHttp((_request, response) => void response.end(), '127.0.0.1', certificate));
  const egress = opened();
  const at = (name: string): string => `https://${name}:${server.port}/`;
  expect((await egress.fetch(at('trusted.example'), { verifyTls: false })).status).toBe(200);
  await expect(egress.fetch(at('trusted.example'))).rejects.toMatchObject({ reason: 'tls_failed' });
  expect((await egress.fetch(at('trusted.example'), { ca: certificate.cert })).status).toBe(200);
  await expect(egress.fetch(at('trusted.example'))).rejects.toMatchObject({ reason: 'tls_failed' });
  await expect(egress.fetch(at('other.example'), { ca: certificate.cert })).rejects.toMatchObject({
    reason: 'tls_failed',
  });
});

test('does not share connections between two names of one address', async () => {
  const server = await serving(listenHttp((_request, response) => void response.end()));
  const egress = opened();
  await egress.fetch(`http://one.example:${server.port}/`);
  await egress.fetch(`http://two.example:${server.port}/`);
  expect(server.connections()).toBe(2);
});

test('resends on a new connection if the idle one was closed', async () => {
  const server = await scripted((socket, n) => (n === 2 ? socket.destroy() : socket.write(ANSWER)));
  const egress = opened();
  const address = `http://127.0.0.1:${server.port}/`;
  await egress.fetch(address);
  expect((await egress.fetch(address)).status).toBe(200);
  expect((await egress.fetch(address, { method: 'POST', repeatable: true })).status).toBe(200);
  expect([server.requests(), server.connections()]).toEqual([5, 3]);
});

test('resends under TLS, too; TLS messages do not count as a response', async () => {
  const used = new WeakSet<Socket>();
  const server = await serving(
    listenHttp(
      ({ socket }, response) => {
        if (used.has(socket)) socket.destroy();
        else response.end('ok');
        used.add(socket);
      },
      '127.0.0.1',
      certificate,
    ),
  );
  const egress = opened({ ca: certificate.cert });
  for (let n = 0; n < 4; n += 1) expect((await egress.fetch(server.origin)).status).toBe(200);
  expect(server.connections()).toBe(4);
});

test('a request that is not idempotent never uses an idle connection and is never resent', async () => {
  const server = await scripted((socket, n) => (n === 2 ? socket.destroy() : socket.write(ANSWER)));
  const egress = opened();
  const address = `http://127.0.0.1:${server.port}/`;
  for (let n = 0; n < 3; n += 1) expect((await egress.fetch(address, { method: 'POST' })).status).toBe(200);
  expect((await egress.fetch(address, { method: 'PUT', repeatable: false })).status).toBe(200);
  expect([server.requests(), server.connections()]).toEqual([4, 4]);

  const rude = await scripted((socket) => socket.destroy());
  const failed = egress.fetch(`http://127.0.0.1:${rude.port}/`, { method: 'POST', repeatable: true });
  await expect(failed).rejects.toMatchObject({ reason: 'connect_failed' });
  expect(rude.requests()).toBe(1);
});

test.each(['H', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nok'])(
  'once the answer has begun with "%s", nothing is sent again',
  async (beginning) => {
    const server = await scripted((socket, n) => (n === 2 ? socket.end(beginning) : socket.write(ANSWER)));
    const egress = opened();
    const address = `http://127.0.0.1:${server.port}/`;
    await egress.fetch(address);
    await expect(egress.fetch(address)).rejects.toMatchObject({ name: 'EgressError' });
    expect([server.requests(), server.connections()]).toEqual([2, 1]);
  },
);

test('an unsolicited response is not used for the next request', async () => {
  const planted = 'HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nplanted';
  const server = await scripted((socket) => socket.write(ANSWER + planted));
  const egress = opened();
  for (let n = 0; n < 3; n += 1) {
    const answer = await egress.fetch(`http://127.0.0.1:${server.port}/`).then(
      (response) => response.text(),
      () => 'refused',
    );
    expect(answer).not.toBe('planted');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test('aborting one request does not affect the others', async () => {
  const server = await serving(
    listenHttp((request, response) => void (request.url === '/slow' ? undefined : response.end('ok'))),
  );
  const egress = opened();
  await egress.fetch(server.origin);
  const stop = new AbortController();
  const slow = egress.fetch(`${server.origin}/slow`, { signal: stop.signal });
  expect(await (await egress.fetch(server.origin)).text()).toBe('ok');
  stop.abort(new Error('gone'));
  await expect(slow).rejects.toThrow('gone');
  expect(await (await egress.fetch(server.origin)).text()).toBe('ok');
});

test('after close, nothing stays open and every call fails', async () => {
  const server = await scripted((socket, n) => void (n === 1 && socket.write(ANSWER)));
  const address = `http://127.0.0.1:${server.port}/`;
  const egress = opened();
  await egress.fetch(address);
  const pending = egress.fetch(address);
  const raw = await egress.connect({ host: '127.0.0.1', port: server.port });
  const gone = new Promise((resolve) => raw.once('close', resolve));
  egress.close?.();
  egress.close?.();
  await expect(pending).rejects.toMatchObject({ reason: 'connect_failed' });
  await gone;
  await expect.poll(() => server.open()).toBe(0);
  await expect(egress.fetch(address)).rejects.toMatchObject({ reason: 'connect_failed' });
  await expect(egress.connect({ host: '127.0.0.1', port: server.port })).rejects.toMatchObject({
    reason: 'connect_failed',
  });
  expect(server.connections()).toBe(2);
});
