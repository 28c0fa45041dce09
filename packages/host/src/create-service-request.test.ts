import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createServiceRequest } from './create-service-request.js';

const fetch = vi.fn<typeof globalThis.fetch>();
const request = createServiceRequest({ baseUrl: 'https://api.example/base/', apiKey: 'key-1', fetch });

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(1);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  fetch.mockReset();
});

/** Sends the responses in turn, and repeats the last one. */
function answers(...list: (() => Response | Promise<Response>)[]): void {
  for (const one of list.slice(0, -1)) fetch.mockImplementationOnce(async () => one());
  const last = list.at(-1);
  if (last) fetch.mockImplementation(async () => last());
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  () =>
    new Response('no', { status: code, headers });
const ok = () => Response.json({ id: 'c-1' });

/** Returns the outcome and its duration in fake milliseconds. */
async function timed(promise: Promise<unknown>): Promise<{ value?: unknown; error?: unknown; ms: number }> {
  const start = Date.now();
  const settled = promise.then(
    (value) => ({ value, ms: Date.now() - start }),
    (error: unknown) => ({ error, ms: Date.now() - start }),
  );
  await vi.runAllTimersAsync();
  return settled;
}

function sent(call = 0): { url: unknown; init: RequestInit; headers: Headers } {
  const [url, init = {}] = fetch.mock.calls[call] ?? [];
  return { url, init, headers: new Headers(init.headers) };
}

describe('a single request', () => {
  test('sends JSON and the API key to the base URL plus the path', async () => {
    answers(ok);
    expect(await request('/v1/inputs?limit=1', { method: 'POST', body: '{}' })).toEqual({ id: 'c-1' });
    const { url, init, headers } = sent();
    expect(url).toBe('https://api.example/base/v1/inputs?limit=1');
    expect([init.method, init.body]).toEqual(['POST', '{}']);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('authorization')).toBe('ApiKey key-1');
  });

  test.each([
    ['an object', { authorization: 'Bearer jwt', 'x-trace': 't' }],
    ['Headers', new Headers({ Authorization: 'Bearer jwt', 'X-Trace': 't' })],
    [
      'pairs',
      [
        ['AUTHORIZATION', 'Bearer jwt'],
        ['x-trace', 't'],
      ] satisfies [string, string][],
    ],
  ])('prefers the headers of init, given as %s', async (_, headers) => {
    answers(ok);
    await request('/v1/inputs', { headers });
    expect(sent().headers.get('authorization')).toBe('Bearer jwt');
    expect(sent().headers.get('x-trace')).toBe('t');
    expect(sent().headers.get('content-type')).toBe('application/json');
  });

  test('returns undefined for an empty body', async () => {
    answers(() => new Response(null, { status: 204 }));
    expect(await request('/v1/org/inputs/c-1', { method: 'DELETE' })).toBeUndefined();
    answers(() => new Response(''));
    expect(await request('/v1/inputs')).toBeUndefined();
  });

  test('throws an error with the status, the path and the first 300 characters of the body', async () => {
    answers(() => new Response('x'.repeat(301), { status: 422 }));
    await expect(request('/v1/inputs?a=1')).rejects.toMatchObject({
      name: 'ServiceRequestError',
      message: `422 /v1/inputs?a=1: ${'x'.repeat(300)}`,
      status: 422,
      path: '/v1/inputs?a=1',
    });
  });

  test('rejects a successful response that is not JSON', async () => {
    answers(() => new Response('<!doctype html>'));
    await expect(request('/v1/inputs')).rejects.toThrow('200 /v1/inputs: <!doctype html>');
  });

  test('rejects a path that would change the host', async () => {
    await expect(request('.evil.example/')).rejects.toThrow('path must start with "/"');
    expect(fetch).not.toHaveBeenCalled();
  });
});

describe('retries (R06)', () => {
  test('retries 429 three times, after at most 300, 600 and 1,200 ms', async () => {
    answers(status(429));
    const outcome = await timed(request('/v3/sessions', { method: 'POST', body: '{}' }));
    expect(outcome).toMatchObject({ error: { status: 429 }, ms: 300 + 600 + 1_200 });
    expect(fetch).toHaveBeenCalledTimes(4);
    expect(sent(3).init.body).toBe('{}');
  });

  test('randomizes the delay down to zero', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    answers(status(429), status(429), ok);
    expect(await timed(request('/v1/inputs'))).toEqual({ value: { id: 'c-1' }, ms: 0 });
  });

  test.each([
    ['seconds', () => '7', 7_000],
    ['a date', () => new Date(Date.now() + 9_000).toUTCString(), 9_000],
    ['an invalid value', () => 'soon', 300],
  ])('waits before the retry for Retry-After with %s', async (_, value, ms) => {
    vi.setSystemTime('2026-11-12T10:00:00Z');
    answers(status(429, { 'retry-after': value() }), ok);
    expect(await timed(request('/v1/inputs'))).toEqual({ value: { id: 'c-1' }, ms });
  });

  test('does not retry if Retry-After exceeds 30 seconds', async () => {
    answers(status(429, { 'retry-after': '31' }));
    expect(await timed(request('/v1/inputs'))).toMatchObject({ error: { status: 429, retryAfter: '31' }, ms: 0 });
  });

  test('stops retrying before the total delay exceeds 30 seconds', async () => {
    answers(status(429, { 'retry-after': '14' }));
    expect(await timed(request('/v1/inputs'))).toMatchObject({ error: { status: 429 }, ms: 28_000 });
    expect(fetch).toHaveBeenCalledTimes(3);
  });

  test.each([502, 503, 504])('retries %i only for idempotent methods', async (code) => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      fetch.mockReset();
      answers(status(code), ok);
      expect(await timed(request('/v1/inputs', { method }))).toMatchObject({ value: { id: 'c-1' } });
    }
    for (const method of ['POST', 'PATCH']) {
      fetch.mockReset();
      answers(status(code), ok);
      expect(await timed(request('/v1/inputs', { method }))).toMatchObject({ error: { status: code }, ms: 0 });
    }
  });

  test('retries a POST with an Idempotency-Key after 502', async () => {
    answers(status(502), ok);
    const init = { method: 'POST', body: '{}', headers: { 'Idempotency-Key': 'k' } };
    expect(await timed(request('/v2/org/pipelines', init))).toMatchObject({ value: { id: 'c-1' } });
  });

  test.each([400, 401, 403, 404, 408, 409, 422, 500, 501])('does not retry %i', async (code) => {
    answers(status(code));
    expect(await timed(request('/v1/inputs'))).toMatchObject({ error: { status: code }, ms: 0 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test('retries a GET after a lost connection or a timeout, but not a POST after a timeout', async () => {
    answers(() => Promise.reject(new TypeError('fetch failed')), silent, ok);
    expect(await timed(request('/v1/inputs'))).toEqual({ value: { id: 'c-1' }, ms: 300 + 10_000 + 600 });
    fetch.mockReset();
    answers(silent, ok);
    const post = await timed(request('/v3/sessions', { method: 'POST' }));
    expect(post).toMatchObject({ error: { name: 'TimeoutError' }, ms: 30_000 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test('does not retry a request with a stream as its body', async () => {
    answers(status(429));
    const body = new Blob(['{}']).stream();
    expect(await timed(request('/v3/sessions', { method: 'POST', body }))).toMatchObject({
      error: { status: 429 },
      ms: 0,
    });
  });

  test('rejects without a retry when the caller aborts during the delay', async () => {
    answers(status(429, { 'retry-after': '20' }));
    const caller = new AbortController();
    const outcome = timed(request('/v1/inputs', { signal: caller.signal }));
    setTimeout(() => caller.abort(new Error('left')), 50);
    expect(await outcome).toMatchObject({ error: { message: 'left' } });
    expect(fetch).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** Never responds; rejects when its signal is aborted. */
function silent(): Promise<Response> {
  const signal = fetch.mock.lastCall?.[1]?.signal;
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => {
      const reason: unknown = signal.reason;
      reject(reason instanceof Error ? reason : new Error('aborted'));
    });
  });
}
