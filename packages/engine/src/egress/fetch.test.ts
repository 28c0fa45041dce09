import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { listenHttp, listenTcp, type Listener } from '../../../../test/support/listener.js';
import { createEgress, type EgressOptions } from './index.js';

const open: EgressOptions = { allow: ['127.0.0.0/8'], lookup: () => Promise.resolve(['127.0.0.1']) };
const egress = createEgress(open);
const certificate = createCertificate('trusted.example', '127.0.0.1');

const listeners: Listener[] = [];
afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.close()));
});
async function serving<L extends Listener>(starting: Promise<L>): Promise<L> {
  const listener = await starting;
  listeners.push(listener);
  return listener;
}

test('sends method, headers and body; returns status, headers and body', async () => {
  let seen: { method: string | undefined; headers: IncomingHttpHeaders; body: string } | undefined;
  const server = await serving(
    listenHttp((request, response) => {
      request.once('data', (body: Buffer) => {
        seen = { method: request.method, headers: request.headers, body: body.toString() };
        response.writeHead(201, { 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] }).end('done');
      });
    }),
  );
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  const url = `http://api.example:${server.port}/path?q=1`;
  const response = await egress.fetch(url, { method: 'post', headers, body: '{"a":1}' });
  expect(response.status).toBe(201);
  expect(await response.text()).toBe('done');
  expect(response.headers.get('x-one')).toBe('1');
  expect(seen?.method).toBe('POST');
  expect(seen?.body).toBe('{"a":1}');
  expect(seen?.headers).toMatchObject({
    ...headers,
    host: `api.example:${server.port}`,
    'accept-encoding': 'identity',
  });
});

test.each([
  { status: 301, method: 'POST', becomes: 'GET' },
  { status: 302, method: 'POST', becomes: 'GET' },
  { status: 303, method: 'PUT', becomes: 'GET' },
  { status: 303, method: 'HEAD', becomes: 'HEAD' },
  { status: 301, method: 'PUT', becomes: 'PUT' },
  { status: 307, method: 'POST', becomes: 'POST' },
  { status: 308, method: 'GET', becomes: 'GET' },
])('a $status within the origin turns $method into $becomes', async ({ status, method, becomes }) => {
  const server = await serving(
    listenHttp((request, response) => {
      if (request.url === '/old') response.writeHead(status, { location: 'new' }).end();
      else response.setHeader('x-seen', `${request.method} ${request.url} ${String(request.headers['x-key'])}`).end();
    }),
  );
  const response = await egress.fetch(`${server.origin}/old`, { method, headers: { 'x-key': 'k' } });
  expect(response.headers.get('x-seen')).toBe(`${becomes} /new k`);
});

test('follows three redirects, not a fourth', async () => {
  const server = await serving(
    listenHttp((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` });
      response.end('there');
    }),
  );
  expect(await (await egress.fetch(`${server.origin}/3`)).text()).toBe('there');
  await expect(egress.fetch(`${server.origin}/4`)).rejects.toMatchObject({ reason: 'redirected' });
});

test('does not follow a redirect to another origin, even to an open address', async () => {
  const other = await serving(listenHttp((_request, response) => void response.end()));
  const targets = [
    other.origin,
    `${other.origin.replace('127.0.0.1', 'api.example')}/`,
    'file:///etc/passwd',
    'http://[',
    '//',
  ];
  for (const location of targets) {
    const server = await serving(listenHttp((_request, response) => response.writeHead(307, { location }).end()));
    await expect(egress.fetch(server.origin)).rejects.toMatchObject({ reason: 'redirected' });
    const withUser = server.origin.replace('//', '//user:pass@');
    const self = await serving(
      listenHttp((_request, response) => response.writeHead(307, { location: withUser }).end()),
    );
    await expect(egress.fetch(self.origin)).rejects.toMatchObject({ reason: 'redirected' });
  }
  expect(other.connections()).toBe(0);
});

test('reads 64 KiB and rejects one byte more', async () => {
  const server = await serving(
    listenHttp((request, response) => void response.end(Buffer.alloc(Number(request.url?.slice(1)), 'x'))),
  );
  expect(await (await egress.fetch(`${server.origin}/65536`)).text()).toHaveLength(65_536);
  await expect(egress.fetch(`${server.origin}/65537`)).rejects.toMatchObject({ reason: 'too_large' });
  const discarded = await egress.fetch(`${server.origin}/9999999`, { discardBody: true });
  expect([discarded.status, await discarded.text()]).toEqual([200, '']);
});

test('rejects an endless response', async () => {
  const server = await serving(
    listenHttp((_request, response) => {
      const more = (): void =>
        void (response.write(Buffer.alloc(16_384)) ? setImmediate(more) : response.once('drain', more));
      more();
    }),
  );
  await expect(egress.fetch(server.origin)).rejects.toMatchObject({ reason: 'too_large' });
});

test('the timeout covers the whole exchange', async () => {
  const silent = await serving(listenTcp(() => undefined));
  const slowBody = await serving(listenHttp((_request, response) => void response.writeHead(200).write('x')));
  const slowTls = await serving(listenTcp(() => undefined));
  const noName = createEgress({ ...open, lookup: () => new Promise(() => undefined) });
  const timeout = { reason: 'timeout' };
  await expect(egress.fetch(`http://127.0.0.1:${silent.port}`, { timeoutMs: 50 })).rejects.toMatchObject(timeout);
  await expect(egress.fetch(slowBody.origin, { timeoutMs: 100 })).rejects.toMatchObject(timeout);
  await expect(egress.fetch(`https://127.0.0.1:${slowTls.port}`, { timeoutMs: 50 })).rejects.toMatchObject(timeout);
  await expect(noName.fetch('http://slow.example', { timeoutMs: 50 })).rejects.toMatchObject(timeout);
  await expect(noName.connect({ host: 'slow.example', port: 1, timeoutMs: 50 })).rejects.toMatchObject(timeout);
});

test("the caller's signal ends it with the caller's reason", async () => {
  const silent = await serving(listenTcp(() => undefined));
  const gone = new Error('gone');
  await expect(egress.fetch(`http://127.0.0.1:${silent.port}`, { signal: AbortSignal.abort(gone) })).rejects.toBe(gone);
  expect(silent.connections()).toBe(0);
  const controller = new AbortController();
  const pending = egress.fetch(`http://127.0.0.1:${silent.port}`, { signal: controller.signal });
  await expect.poll(() => silent.connections()).toBe(1);
  controller.abort(gone);
  await expect(pending).rejects.toBe(gone);
});

test('requires a trusted certificate for the name, unless verification is off', async () => {
  const server = await serving(listenHttp((_request, response) => void response.end('ok'), '127.0.0.1', certificate));
  const trusting = createEgress({ ...open, ca: certificate.cert });
  const at = (name: string): string => `https://${name}:${server.port}/`;
  const failed = { reason: 'tls_failed' };
  await expect(egress.fetch(at('trusted.example'))).rejects.toMatchObject(failed);
  await expect(egress.fetch(at('127.0.0.1'))).rejects.toMatchObject(failed);
  await expect(trusting.fetch(at('other.example'))).rejects.toMatchObject(failed);
  expect((await trusting.fetch(at('trusted.example'))).status).toBe(200);
  expect((await trusting.fetch(at('127.0.0.1'))).status).toBe(200);
  expect((await egress.fetch(at('other.example'), { verifyTls: false })).status).toBe(200);
});

test('reports a server that does not speak HTTP or TLS', async () => {
  const plain = await serving(listenHttp((_request, response) => void response.end()));
  const secured = await serving(listenHttp((_request, response) => void response.end(), '127.0.0.1', certificate));
  const garbage = await serving(
    listenTcp((socket) => socket.once('data', () => socket.end('220 mail.example ESMTP\r\n'))),
  );
  const hangUp = await serving(listenTcp((socket) => socket.once('data', () => socket.destroy())));
  const status = await serving(listenTcp((socket) => socket.once('data', () => socket.end('HTTP/1.1 999 No\r\n\r\n'))));
  const tls = `https://127.0.0.1:${plain.port}`;
  await expect(egress.fetch(tls)).rejects.toMatchObject({ reason: 'tls_failed' });
  await expect(egress.fetch(secured.origin.replace('https', 'http'))).rejects.toMatchObject({ name: 'EgressError' });
  await expect(egress.fetch(`http://127.0.0.1:${garbage.port}`)).rejects.toMatchObject({ reason: 'invalid_answer' });
  await expect(egress.fetch(`http://127.0.0.1:${hangUp.port}`)).rejects.toMatchObject({ reason: 'connect_failed' });
  await expect(egress.fetch(`http://127.0.0.1:${status.port}`)).rejects.toMatchObject({ reason: 'invalid_answer' });
  expect(hangUp.connections()).toBe(1);
});

test('tries the next address after one failed', async () => {
  const server = await serving(listenHttp((_request, response) => void response.end(), '127.0.0.2'));
  const two = createEgress({ ...open, lookup: () => Promise.resolve(['127.0.0.1', '127.0.0.2']) });
  expect((await two.fetch(`http://two.example:${server.port}`)).status).toBe(200);
});

test('reports a closed port and an unknown name', async () => {
  const gone = await listenTcp(() => undefined);
  await gone.close();
  const none = createEgress({ ...open, lookup: () => Promise.resolve([]) });
  const failing = createEgress({ ...open, lookup: () => Promise.reject(new Error('ENOTFOUND')) });
  await expect(egress.connect({ host: '127.0.0.1', port: gone.port })).rejects.toMatchObject({
    reason: 'connect_failed',
  });
  await expect(none.fetch('http://none.example')).rejects.toMatchObject({ reason: 'dns_failed' });
  await expect(failing.fetch('http://none.example')).rejects.toMatchObject({ reason: 'dns_failed' });
});

test.each([
  '',
  'nonsense',
  'ftp://a.example/',
  'file:///etc/passwd',
  'http://user:pass@a.example/',
  'http://a.example:0/',
])('rejects the URL "%s"', (url) => expect(egress.fetch(url)).rejects.toMatchObject({ reason: 'invalid_address' }));

test.each([
  '',
  ' ',
  'a b',
  'a/b',
  'user@a.example',
  'a.example:80',
  'a%2eexample',
  'http://a.example',
  '[::1',
  '1.2.3.4.5',
  '/tmp',
])('rejects the host "%s"', (host) =>
  expect(egress.connect({ host, port: 80 })).rejects.toMatchObject({ reason: 'invalid_address' }),
);

test.each([0, -1, 65_536, 1.5, Number.NaN])('rejects the port %s', (port) =>
  expect(egress.connect({ host: '127.0.0.1', port })).rejects.toMatchObject({ reason: 'invalid_address' }),
);

test('rejects an invalid header without quoting it', async () => {
  for (const value of ['line\r\nbreak-canary', 'snow☃canary', 'zero\0canary']) {
    const error: unknown = await egress
      .fetch('http://127.0.0.1', { headers: { 'x-key': value } })
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ reason: 'invalid_header' });
    expect(String(error instanceof Error && [error.stack, error.cause])).not.toContain('canary');
  }
});

test.each(['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Proxy-Authorization'])(
  'rejects the header %s',
  (name) =>
    expect(egress.fetch('http://127.0.0.1', { headers: { [name]: '1' } })).rejects.toMatchObject({
      reason: 'invalid_header',
    }),
);

test('a socket from connect outlives its timeout, and its errors do not end the process', async () => {
  const echo = await serving(listenTcp((socket) => socket.pipe(socket)));
  const socket = await egress.connect({ host: 'echo.example', port: echo.port, timeoutMs: 200 });
  const answer = new Promise((resolve) => socket.once('data', (data: Buffer) => resolve(data.toString())));
  socket.write('hello');
  expect(await answer).toBe('hello');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy(new Error('broken'));
  await closed;
});
