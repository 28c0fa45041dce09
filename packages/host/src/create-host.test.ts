import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { get, outcome, post, startHost } from '../../../test/support/start-host.js';

let hosts: Awaited<ReturnType<typeof startHost>>;

beforeEach(async () => {
  hosts = await startHost();
});
afterEach(() => hosts.close());

describe('options', () => {
  const wrong: [name: string, options: object][] = [
    ['serviceUrl', { serviceUrl: 'localhost:4000' }],
    ['serviceUrl', { serviceUrl: undefined }],
    ['apiKey', { apiKey: '' }],
    ['authorizeTenant', { authorizeTenant: undefined }],
    ['frameOrigin', { frameOrigin: 'forms' }],
    ['apiBase', { apiBase: 'ftp://service.example' }],
    ['authorizeTeam', { parentOrganizationId: 'org-parent' }],
    ['parentOrganizationId', { authorizeTeam: () => true }],
    ['routes', { routes: 'nine' }],
    ['allow', { allow: ['okta-systemlog'] }],
    ['allow', { allow: null }],
    ['allow.input', { allow: { input: 'okta-systemlog' } }],
    ['allow.output', { allow: { output: ['s3', 7] } }],
    ['allow.output', { allow: { output: [''] } }],
    ['sessionTtl', { sessionTtl: '1800' }],
  ];
  test.each(wrong)('throws an error that names an invalid %s', (name, options) => {
    expect(() => hosts.create(options)).toThrow(new RegExp(`^createHost: ${name} `));
  });

  const remedies: [wrong: object, remedy: RegExp][] = [
    [{ apikey: 'key-1' }, /^createHost: "apikey" is not an option\. Write "apiKey"\.$/],
    [{ authorizeTenants: () => 'org-1' }, /Write "authorizeTenant"\.$/],
    [{ allowed: { input: [] } }, /Write "allow"\.$/],
    [
      { origins: undefined },
      /^createHost: "origins" is not an option\. The options are serviceUrl, apiKey, .*, fetch\.$/,
    ],
    [{ constructor: 1 }, /^createHost: "constructor" is not an option/],
    [{ allow: { inputs: ['s3'] } }, /^createHost: allow has "inputs"\. Write "input"\.$/],
    [{ allow: { sources: ['s3'] } }, /^createHost: allow has "sources"\. Write "input", "output" or "enrichment"\.$/],
    [{ sessionTtl: 60 }, /from 300 to 3600, got 60\. Write 300, or omit it/],
    [{ sessionTtl: 86_400 }, /got 86400\. Write 300, or/],
    [{ sessionTtl: 7_200 }, /got 7200\. Write 3600, or/],
    [{ sessionTtl: 1_800_000 }, /got 1800000\. Write 1800, or/],
    [{ sessionTtl: 900.5 }, /got 900\.5\. Write 901, or/],
    [{ sessionTtl: Number.NaN }, /Write 1800, or/],
  ];
  test.each(remedies)('says what to write instead of %j', (options, remedy) => {
    expect(() => hosts.create(options)).toThrow(remedy);
  });

  test.each([300, 1_800, 3_600, undefined])('accepts the sessionTtl %s', (sessionTtl) => {
    expect(() => hosts.create(Object({ sessionTtl }))).not.toThrow();
  });
});

describe('routes', () => {
  test('config returns frameOrigin and apiBase without calling the service', async () => {
    const answer = await hosts.create()(get('/api/monad/config'));
    expect(await answer.json()).toEqual({ frameOrigin: `${hosts.origin}/embed`, apiBase: hosts.origin });
    expect(hosts.seen).toEqual([]);
  });

  test('config returns the configured frameOrigin and apiBase', async () => {
    const options = { apiBase: 'https://api.example/', frameOrigin: 'https://forms.example/v1/' };
    const answer = await hosts.create(options)(get('/api/monad/config'));
    expect(await answer.json()).toEqual({ frameOrigin: 'https://forms.example/v1', apiBase: 'https://api.example' });
  });

  test.each(['/', '/api', '/api/sessions', '/api/session/x', '/api//session', '/session', '/api/team'])(
    'returns 404 for %s and does not match it',
    async (path) => {
      const host = hosts.create();
      expect(await outcome(host(get(path)))).toEqual([404, 'not_found']);
      expect(host.matches(path)).toBe(false);
    },
  );

  test('serves the routes below basePath; trailing slashes are optional', async () => {
    for (const basePath of ['/connect', 'connect/', '/connect/']) {
      const moved = hosts.create({ basePath });
      expect(moved.matches('https://product.example/connect/session?x=1')).toBe(true);
      expect(moved.matches('/api/session')).toBe(false);
      expect((await moved(get('/connect/monad/config/'))).status).toBe(200);
    }
    expect(hosts.create({ basePath: '/' }).matches('/session')).toBe(true);
  });

  test('returns 405 with an Allow header for another method', async () => {
    const answer = await hosts.create()(get('/api/session'));
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await hosts.create()(post('/api/catalog?kind=input', {}))).headers.get('allow')).toBe('GET');
  });
});

describe('cross-origin requests (S24)', () => {
  const writes: [from: string, headers: Record<string, string>, status: number][] = [
    ['this origin', { 'sec-fetch-site': 'same-origin' }, 200],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling domain', { 'sec-fetch-site': 'same-site' }, 403],
    ['the address bar', { 'sec-fetch-site': 'none' }, 403],
    ['an unknown origin', {}, 403],
    ['this origin, given by Origin', { origin: 'https://product.example' }, 200],
    ['another origin, given by Origin', { origin: 'https://evil.example' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    [
      'an origin that contradicts Sec-Fetch-Site',
      { origin: 'https://product.example', 'sec-fetch-site': 'cross-site' },
      403,
    ],
    ['a caller with the connector-frame-request header', { 'connector-frame-request': '1' }, 200],
    ['an HTML form', { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['a client that sends text/plain', { 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain' }, 415],
    [
      'a client that sends JSON with a charset',
      { 'sec-fetch-site': 'same-origin', 'content-type': 'Application/JSON; charset=utf-8' },
      200,
    ],
  ];
  test.each(writes)('returns the expected status for a write from %s', async (_, headers, status) => {
    const request = new Request('https://product.example/api/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-signed-in': 'acme', ...headers },
      body: JSON.stringify({ tenantId: 'acme' }),
    });
    expect((await hosts.create()(request)).status).toBe(status);
    expect(hosts.seen).toHaveLength(status === 200 ? 1 : 0);
  });

  test('sends no CORS headers, not even for a preflight', async () => {
    const preflight = new Request('https://product.example/api/session', { method: 'OPTIONS' });
    for (const request of [preflight, get('/api/catalog?kind=input')]) {
      const answer = await hosts.create()(request);
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

describe('when the service fails', () => {
  const failures: [answered: number, status: number, code: string][] = [
    [400, 400, 'invalid_request'],
    [401, 502, 'upstream_error'],
    [403, 502, 'upstream_error'],
    [404, 404, 'not_found'],
    [409, 409, 'conflict'],
    [422, 400, 'invalid_request'],
    [429, 429, 'rate_limited'],
    [500, 502, 'upstream_error'],
    [200, 502, 'upstream_error'],
  ];
  test.each(failures)(
    'status %i: reports the error to onError and hides the response body from the browser',
    async (answered, status, code) => {
      await hosts.close();
      const body = { token: 'canary-4711' };
      hosts = await startHost({
        'POST /v3/sessions': { status: answered, headers: { 'retry-after': '60' }, body },
      });
      const answer = await hosts.create()(post('/api/session', { tenantId: 'acme' }));
      const text = await answer.clone().text();
      expect(await outcome(Promise.resolve(answer))).toEqual([status, code]);
      expect(text).not.toContain('canary');
      expect(answer.headers.get('retry-after')).toBe(status === 429 ? '60' : null);
      expect(hosts.onError).toHaveBeenCalledOnce();
      expect(String(hosts.onError.mock.calls[0]?.[0])).not.toContain('key-1');
    },
  );

  test('returns 502 when the service is unreachable', async () => {
    await hosts.close();
    expect(await outcome(hosts.create()(post('/api/session', { tenantId: 'acme' })))).toEqual([502, 'upstream_error']);
  });
});
