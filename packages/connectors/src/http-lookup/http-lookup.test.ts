import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createEgress } from '@connector-frame/engine/egress';
import { ManualClock } from '@connector-frame/engine/testing';
import { ConnectorError, type Clock } from '@connector-frame/engine/connector-api';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { runTesterContract } from '../../../../test/support/tester-contract.js';
import { startVendor, type Received, type Reply } from '../../../../test/support/vendor.js';
import { createHttpLookup } from './enrichment.js';
import { testHttpLookup } from './test-connection.js';
import { urlOf } from './url.js';

const never = new AbortController().signal;
const egress = createEgress({ allow: ['127.0.0.0/8'] });
afterAll(() => egress.close?.());

/** Starts an API, and returns how to look up its keys. */
async function api(
  respond: (request: Received) => Reply,
  settings: Record<string, unknown> = {},
  { path = '/users/{key}', clock = new ManualClock() }: { path?: string; clock?: Clock } = {},
) {
  const server = await startVendor(respond);
  onTestFinished(() => server.close());
  const base = { url: server.origin + path, join_path: 'id', destination_path: 'found' };
  const secrets = { auth_headers: { Authorization: 'Bearer secret-token' } };
  const context = { type: typeOf('enrichment:http-lookup'), egress, clock };
  const made = createHttpLookup({ settings: { ...base, ...settings }, secrets }, context);
  return { server, made, lookUp: (...keys: string[]) => made.lookUp(keys, never) };
}

const urls = (requests: readonly Received[]): string[] => requests.map(({ url }) => url).toSorted();
const limited = () => ({ status: 429, headers: { 'retry-after': '30' } });
const ok = (data: unknown) => ({ code: 'success', message: 'key found', data });

test('requests each key, encoded, with the headers, and puts the body or a part of it in the record', async () => {
  const { server, lookUp } = await api(
    ({ url }) => ({ body: { data: { path: url } } }),
    { data_path: 'data', headers: [{ header_key: 'X-Plan', header_value: 'a' }] },
    { path: '/v1/{key}?full=1' },
  );
  const { results } = await lookUp('ana', 'a/b?c=d&{key}#e', 'ü $&');
  expect(urls(server.requests)).toEqual([
    '/v1/%C3%BC%20%24%26?full=1',
    '/v1/a%2Fb%3Fc%3Dd%26%7Bkey%7D%23e?full=1',
    '/v1/ana?full=1',
  ]);
  expect(results.get('ana')).toEqual(ok({ path: '/v1/ana?full=1' }));
  expect(server.requests[0]?.headers).toMatchObject({
    authorization: 'Bearer secret-token',
    'x-plan': 'a',
    accept: 'application/json',
  });
});

test('a key cannot lead to another resource', () => {
  const template = 'https://api.example/users/{key}/profile';
  for (const key of ['.', '..', '\uD800', 'x'.repeat(2_001)]) expect(urlOf(template, key)).toBeUndefined();
  expect(urlOf(template, '../admin')).toBe('https://api.example/users/..%2Fadmin/profile');
  expect(urlOf(template, '%2e%2e')).toBe('https://api.example/users/%252e%252e/profile');
  expect(urlOf('https://api.example/?q={key}', '..')).toBe('https://api.example/?q=..');
  expect(urlOf('https://api.example/.{key}', '.')).toBeUndefined();
});

test.each([
  [404, {}, { code: 'key_not_found', message: 'key not found', data: 'none' }],
  [204, {}, { code: 'key_not_found', message: 'key not found', data: 'none' }],
  [400, {}, { code: 'key_refused', message: 'key refused', data: 'none' }],
  [422, { error_on_missing_key: true }, { rejected: 'key_refused' }],
  [410, { error_on_missing_key: true }, { rejected: 'key_not_found' }],
  [200, { data_path: 'missing' }, { code: 'key_not_found', message: 'key not found', data: 'none' }],
])('a response with %i is a result: %o', async (status, settings, result) => {
  const { lookUp } = await api(() => ({ status, body: status === 204 ? '' : {} }), {
    no_match_response: 'none',
    ...settings,
  });
  expect([...(await lookUp('a')).results]).toEqual([['a', result]]);
});

test.each([
  [401, 'invalid_credentials', 'permanent'],
  [403, 'forbidden', 'permanent'],
  [405, 'rejected', 'permanent'],
  [500, 'upstream_error', 'retry'],
  [429, 'rate_limited', 'throttled'],
])('a response with %i fails: %s', async (status, code, kind) => {
  const { lookUp } = await api(() => ({ status, body: 'upstream says secret-token' }));
  const { failure, results } = await lookUp('a');
  expect([failure?.code, failure?.kind, results.size]).toEqual([code, kind, 0]);
  expect(failure?.message).not.toContain('secret-token');
});

test('a body that is no JSON, or is too large, fails', async () => {
  const page = await api(() => ({ body: '<!doctype html>' }));
  expect((await page.lookUp('a')).failure).toMatchObject({ code: 'unexpected_answer' });
  const large = await api(() => ({ body: { text: 'x'.repeat(300_000) } }));
  expect((await large.lookUp('a')).failure).toMatchObject({ code: 'unexpected_answer' });
});

test('the first failure ends the lookup, and keeps what was found before', async () => {
  let count = 0;
  const { server, lookUp } = await api(() => {
    count += 1;
    return count > 12 ? { status: 500 } : { body: { count } };
  });
  const keys = Array.from({ length: 500 }, (_, n) => String(n));
  const { results, failure } = await lookUp(...keys);
  expect(failure?.code).toBe('upstream_error');
  expect(results.size).toBe(12);
  // At most those that were in progress.
  expect(server.requests.length).toBeLessThanOrEqual(21);
});

test('a server that does not respond costs one timeout, and an abort ends it', async () => {
  const keys = Array.from({ length: 100 }, (_, n) => String(n));
  const short = await api(() => ({ fault: 'hang' }), { timeout_seconds: 0.05 });
  expect((await short.made.lookUp(keys, never)).failure).toMatchObject({ code: 'timeout', kind: 'retry' });
  // Some may have timed out before they were sent.
  expect(short.server.requests.length).toBeLessThanOrEqual(8);

  const { server, made } = await api(() => ({ fault: 'hang' }));
  const ended = new AbortController();
  const looking = made.lookUp(keys, ended.signal);
  await expect.poll(() => server.requests.length).toBe(8);
  ended.abort(new Error('paused'));
  await expect(looking).rejects.toThrow('paused');
});

test('records wait, go on or are rejected at the rate limit, which is not tried again until it resets', async () => {
  const waiting = await api(limited);
  expect((await waiting.lookUp('a')).failure).toMatchObject({ kind: 'throttled', afterMs: 30_000 });

  const clock = new ManualClock();
  let isLimited = true;
  const reply = (): Reply => (isLimited ? limited() : { body: { plan: 1 } });
  const settings = { rate_limited: 'respond', rate_limit_response: 'later' };
  const going = await api(reply, settings, { clock });
  const first = await going.lookUp('a');
  expect(first.failure).toBeUndefined();
  expect(first.results.get('a')).toEqual({
    code: 'rate_limited',
    message: 'rate limit reached',
    data: 'later',
    cacheMs: 30_000,
  });
  clock.advance(10_000);
  isLimited = false;
  expect((await going.lookUp('b')).results.get('b')).toMatchObject({ data: 'later', cacheMs: 20_000 });
  expect(going.server.requests).toHaveLength(1);
  clock.advance(20_000);
  expect((await going.lookUp('b')).results.get('b')).toEqual(ok({ plan: 1 }));

  const strict = await api(limited, { rate_limited: 'reject' });
  expect((await strict.lookUp('a')).results.get('a')).toEqual({ rejected: 'rate_limited', cacheMs: 30_000 });
});

test('sends no more requests per second than the setting says', async () => {
  const slept: number[] = [];
  const clock = { now: () => 0, sleep: (ms: number) => Promise.resolve(void slept.push(ms)) };
  const { lookUp } = await api(() => ({ body: {} }), { rate_limit: 10 }, { clock });
  await lookUp('a', 'b', 'c', 'd');
  expect(slept.toSorted((a, b) => a - b)).toEqual([100, 200, 300]);
});

test('a redirect to another origin is not followed, and a closed address is not connected', async () => {
  const other = await startVendor(() => ({ body: {} }));
  onTestFinished(() => other.close());
  const { lookUp } = await api(() => ({ status: 302, headers: { location: other.origin } }));
  expect((await lookUp('a')).failure).toMatchObject({ code: 'redirected', kind: 'permanent' });
  expect(other.requests).toEqual([]);
  const closed = createHttpLookup(
    { settings: { url: `${other.origin}/{key}`, join_path: 'id', destination_path: 'found' }, secrets: {} },
    { type: typeOf('enrichment:http-lookup'), egress: createEgress({ allow: [] }), clock: new ManualClock() },
  );
  expect((await closed.lookUp(['a'], never)).failure).toMatchObject({ code: 'egress_refused', kind: 'permanent' });
  expect(other.requests).toEqual([]);
});

test('a header that cannot be sent is an error of the configuration', async () => {
  await expect(
    api(() => ({ body: {} }), { headers: [{ header_key: 'X-Plan', header_value: 'a\nb' }] }),
  ).rejects.toBeInstanceOf(ConnectorError);
});

runTesterContract('HTTP lookup', {
  type: 'enrichment:http-lookup',
  at: (origin) => ({
    tester: testHttpLookup,
    config: {
      settings: { url: `${origin}/users/{key}`, join_path: 'id', destination_path: 'found' },
      secrets: { auth_headers: { Authorization: 'Bearer canary/secret+token' } },
    },
  }),
  respond: () => ({ body: { id: 'connection-test' } }),
  summary: 'The API responded with JSON (HTTP 200)',
});
