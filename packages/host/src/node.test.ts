import { request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { serve } from '../../../test/support/serve.js';
import { createHost } from './create-host.js';
import { toNodeHandler, toRequest, type FetchHandler } from './node.js';
import { startUpstream, usualAnswers } from '../../../test/support/upstream.js';

let upstream: Awaited<ReturnType<typeof startUpstream>>;
let close: (() => Promise<void>) | undefined;

beforeEach(async () => {
  upstream = await startUpstream(usualAnswers);
});
afterEach(async () => {
  await close?.();
  close = undefined;
  await upstream.close();
});

async function listen(listener: RequestListener): Promise<string> {
  const site = await serve(listener, '127.0.0.1');
  close = () => site.close();
  return site.origin;
}

/** Authenticates as the tenant in the cookie. */
function host() {
  return createHost({
    serviceUrl: upstream.origin,
    apiKey: 'key-1',
    authorizeTenant: (request, tenantId) =>
      request.headers.get('cookie') === `tenant=${tenantId}` ? `org-${tenantId}` : null,
  });
}

function session(tenantId: string, extra: RequestInit = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'connector-frame-request': '1', cookie: 'tenant=acme' },
    body: JSON.stringify({ tenantId }),
    ...extra,
  };
}

describe('toNodeHandler', () => {
  test('serves the routes of the host on node:http', async () => {
    const origin = await listen(toNodeHandler(host()));
    const answer = await fetch(`${origin}/api/session`, session('acme'));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toMatchObject({ organizationId: 'org-acme' });
    expect((await fetch(`${origin}/api/catalog?kind=input`)).status).toBe(200);
    expect((await fetch(`${origin}/elsewhere`)).status).toBe(404);
  });

  test('returns 403 for the tenant of another customer without calling the service', async () => {
    const origin = await listen(toNodeHandler(host()));
    expect((await fetch(`${origin}/api/session`, session('globex'))).status).toBe(403);
    const list = await fetch(`${origin}/api/connectors?kind=input&tenantId=globex`, {
      headers: { cookie: 'tenant=acme' },
    });
    expect([list.status, upstream.seen.length]).toEqual([403, 0]);
  });

  test('as middleware, calls next() for other paths and next(error) for failures', async () => {
    const next = vi.fn<(error?: unknown) => void>();
    const failing = Object.assign(() => Promise.reject(new Error('no')), { matches: () => true });
    const handlers = [toNodeHandler(host()), toNodeHandler(failing)];
    const origin = await listen((message, response) => {
      handlers[Number(message.headers['x-handler'])]?.(message, response, (error) => {
        next(error);
        response.end('next');
      });
    });
    for (const index of ['0', '1']) {
      const answer = await fetch(`${origin}/elsewhere`, { headers: { 'x-handler': index } });
      expect(await answer.text()).toBe('next');
    }
    expect(next.mock.calls).toEqual([[undefined], [new Error('no')]]);
  });

  test('returns 500 for a failure without a next function', async () => {
    const origin = await listen(toNodeHandler(() => Promise.reject(new Error('no'))));
    expect((await fetch(origin)).status).toBe(500);
  });

  test('returns 413 and closes the connection for a body that is too large', async () => {
    const origin = await listen(toNodeHandler(host()));
    const { answer, body } = await upload(`${origin}/api/session`, 300_000);
    expect([answer.statusCode, answer.headers.connection]).toEqual([413, 'close']);
    expect(body).toContain('invalid_request');
  });

  test('serves the next request after a client disconnects while sending its body', async () => {
    const seen = vi.fn<(error: unknown) => void>();
    const reader: FetchHandler<IncomingMessage> = async (request) => {
      await request.text().catch(seen);
      return new Response('read');
    };
    const origin = await listen(toNodeHandler(reader));
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf', () => socket.destroy());
    await vi.waitFor(() => expect(seen).toHaveBeenCalled());
    expect(await (await fetch(origin)).text()).toBe('read');
  });

  test.each(['GET / HTTP/1.1\r\nhost: a b\r\n\r\n', 'GET http://[ HTTP/1.1\r\nhost: [\r\n\r\n'])(
    'returns 400 for an invalid URL: %j',
    async (head) => {
      const origin = await listen(toNodeHandler(host()));
      const socket = connect(Number(new URL(origin).port), '127.0.0.1');
      socket.end(head);
      expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /);
    },
  );

  test('streams the response and cancels the stream when the client disconnects', async () => {
    const cancel = vi.fn<() => void>();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('first')),
      cancel,
    });
    const origin = await listen(toNodeHandler(() => Promise.resolve(new Response(body))));
    const leaving = new AbortController();
    const answer = await fetch(origin, { signal: leaving.signal });
    expect(await answer.body?.pipeThrough(new TextDecoderStream()).getReader().read()).toMatchObject({
      value: 'first',
    });
    leaving.abort();
    await vi.waitFor(() => expect(cancel).toHaveBeenCalledOnce());
  });

  test('sends multiple cookies and a streamed body, and no body for HEAD', async () => {
    const origin = await listen(toNodeHandler(answerAtLength));
    const answer = await fetch(origin);
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([203, ['a=1; Path=/', 'b=2; Path=/']]);
    expect(await answer.text()).toHaveLength(200_001);
    expect(await (await fetch(origin, { method: 'HEAD' })).text()).toBe('');
  });
});

describe('toRequest', () => {
  test('reads the path, the body and the content length', async () => {
    const body = 'ä'.repeat(50_000);
    expect(await arrived(body)).toEqual(['/a/b?c=d', body, '100000']);
  });

  test.each([
    ['an object', { tenantId: 'acme' }, '{"tenantId":"acme"}'],
    ['text', 'text', 'text'],
    ['bytes', Buffer.from('bytes'), 'bytes'],
  ])('uses a body that a parser has read: %s', async (_, parsed, body) => {
    expect(await arrived('the wire', parsed)).toEqual(['/a/b?c=d', body, null]);
  });
});

async function answerAtLength(): Promise<Response> {
  const headers = new Headers();
  headers.append('set-cookie', 'a=1; Path=/');
  headers.append('set-cookie', 'b=2; Path=/');
  return new Response(new Blob(['a'.repeat(200_000), 'b']).stream(), { status: 203, headers });
}

/** Returns the path, text and declared length that `toRequest` reads from a posted body. */
async function arrived(body: string, ...parsed: unknown[]): Promise<unknown> {
  const origin = await listen((message, response) => {
    const request = toRequest(message, ...parsed);
    const path = request.url.replace(origin, '');
    const length = request.headers.get('content-length');
    void request.text().then((read) => response.end(JSON.stringify([path, read, length])));
  });
  return (await fetch(`${origin}/a/b?c=d`, { method: 'POST', body })).json();
}

/** Sends `size` bytes and reads the response while the rest is still being sent. */
async function upload(address: string, size: number): Promise<{ answer: IncomingMessage; body: string }> {
  const headers = { 'content-type': 'application/json', 'connector-frame-request': '1' };
  const request = httpRequest(address, { method: 'POST', headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  request.end(Buffer.alloc(size, ' '));
  const answer = await answered;
  return { answer, body: await text(answer) };
}
