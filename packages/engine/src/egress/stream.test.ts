/** Streamed bodies. */
import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { listenHttp, listenTcp, type Listener, type WebListener } from '../../../../test/support/listener.js';
import { createEgress, type EgressInit } from './index.js';

const egress = createEgress({ allow: ['127.0.0.0/8'] });
const listeners: Listener[] = [];
afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.close()));
});
let closed = 0;
async function serve(respond: (response: ServerResponse) => void): Promise<WebListener> {
  closed = 0;
  const listener = await listenHttp((request, response) => {
    request.socket.once('close', () => (closed += 1));
    respond(response);
  });
  listeners.push(listener);
  return listener;
}
async function open(address: string, init: EgressInit = {}) {
  const response = await egress.fetch(address, { stream: true, ...init });
  if (!response.body) throw new Error('no body');
  const reader = response.body.getReader();
  return {
    response,
    reader,
    text: async () => Buffer.from((await reader.read()).value ?? []).toString(),
    length: async () => {
      let sum = 0;
      for (let part = await reader.read(); !part.done; part = await reader.read()) sum += part.value.byteLength;
      return sum;
    },
  };
}

test('returns the first bytes before the last ones are sent', async () => {
  let sent: ServerResponse | undefined;
  const server = await serve((response) => (sent = response).writeHead(200, { 'x-a': '1' }).write('first'));
  const { response, text, length } = await open(server.origin);
  expect([response.status, response.headers.get('x-a'), await text()]).toEqual([200, '1', 'first']);
  sent?.end('second');
  expect(await length()).toBe(6);
});

test('streams megabytes completely; refuses or truncates at maxBytes', async () => {
  const server = await serve((response) => void response.end(Buffer.alloc(3_000_000, 'x')));
  expect(await (await open(server.origin)).length()).toBe(3_000_000);
  expect(await (await open(server.origin, { maxBytes: 3_000_000 })).length()).toBe(3_000_000);
  await expect((await open(server.origin, { maxBytes: 2_999_999 })).length()).rejects.toMatchObject({
    reason: 'too_large',
  });
  expect(await (await open(server.origin, { maxBytes: 100_000, overflow: 'truncate' })).length()).toBe(100_000);
  const whole = await egress.fetch(server.origin, { maxBytes: 3_000_000 });
  expect((await whole.arrayBuffer()).byteLength).toBe(3_000_000);
  const cut = await egress.fetch(server.origin, { maxBytes: 10, overflow: 'truncate' });
  expect(await cut.text()).toBe('x'.repeat(10));
});

test('reuses the connection after a complete read; closes it after a cancel', async () => {
  const server = await serve((response) => void response.end('x'.repeat(200_000)));
  for (let n = 0; n < 3; n += 1) await (await open(server.origin)).length();
  expect(server.connections()).toBe(1);
  const { reader } = await open(server.origin);
  await reader.read();
  await reader.cancel();
  await expect.poll(() => closed).toBeGreaterThan(0);
  await (await open(server.origin)).length();
  expect(server.connections()).toBe(2);
});

test('does not read ahead of the reader', async () => {
  let sent = 0;
  const server = await serve((response) => {
    const more = (): void => {
      sent += 65_536;
      if (response.write(Buffer.alloc(65_536))) setImmediate(more);
      else response.once('drain', more);
    };
    more();
  });
  const { reader } = await open(server.origin);
  await reader.read();
  await expect
    .poll(async () => {
      const before = sent;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return sent - before;
    })
    .toBe(0);
  await reader.cancel();
});

test('the timeout covers the head, and then each pause between chunks', async () => {
  const silent = await listenTcp(() => undefined);
  listeners.push(silent);
  await expect(open(`http://127.0.0.1:${silent.port}/`, { timeoutMs: 50 })).rejects.toMatchObject({
    reason: 'timeout',
  });
  const server = await serve((response) => {
    let parts = 0;
    const timer = setInterval(() => {
      parts += 1;
      if (parts < 6) response.write('x');
      else clearInterval(timer);
    }, 100);
  });
  const { reader } = await open(server.origin, { timeoutMs: 400 });
  let got = 0;
  const reading = (async () => {
    for (;;) got += (await reader.read()).value?.byteLength ?? 0;
  })();
  await expect(reading).rejects.toMatchObject({ reason: 'timeout' });
  expect(got).toBe(5);
  await expect.poll(() => closed).toBe(1);
});

test("the caller's signal and a lost connection end it, each with its reason", async () => {
  let sent: ServerResponse | undefined;
  const server = await serve((response) => void (sent = response).writeHead(200).write('x'));
  const gone = new Error('gone');
  const stop = new AbortController();
  const first = await open(server.origin, { signal: stop.signal });
  await first.reader.read();
  const pending = first.reader.read();
  stop.abort(gone);
  await expect(pending).rejects.toBe(gone);
  await expect.poll(() => closed).toBe(1);

  const second = await open(server.origin);
  await second.reader.read();
  sent?.destroy();
  await expect(second.reader.read()).rejects.toMatchObject({ reason: 'connect_failed' });

  const own = createEgress({ allow: ['127.0.0.0/8'] });
  const reader = (await own.fetch(server.origin, { stream: true })).body?.getReader();
  await reader?.read();
  own.close?.();
  await expect(reader?.read()).rejects.toMatchObject({ name: 'EgressError' });
});

test('follows a redirect before it returns the body', async () => {
  const server = await listenHttp((request, response) =>
    request.url === '/there' ? response.end('there') : response.writeHead(302, { location: '/there' }).end('moved'),
  );
  listeners.push(server);
  expect(await (await open(server.origin)).text()).toBe('there');
});

test('a connection that breaks before the body is read fails the body, not the process', async () => {
  const server = await serve((response) => {
    response.writeHead(200).write('first');
    setTimeout(() => response.socket?.resetAndDestroy(), 20);
  });
  const { reader } = await open(server.origin);
  await expect.poll(() => closed).toBe(1);
  // An unhandled error would end the process in the next turn of the event loop.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const read = async (): Promise<void> => {
    for (let part = await reader.read(); !part.done;) part = await reader.read();
  };
  await expect(read()).rejects.toMatchObject({ reason: 'connect_failed' });
});

test('an unread body can be canceled', async () => {
  const server = await serve((response) => void response.writeHead(200).write('first'));
  const response = await egress.fetch(server.origin, { stream: true });
  await response.body?.cancel();
  await expect.poll(() => closed).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 50));
});
