import type { PollLogin } from '@connector-frame/catalog/types';
import { expect, test } from 'vitest';
import { config, data, open, ORIGIN, records } from '../../../../../../test/support/poll-acme.js';
import { START } from '../../../../../../test/support/poll-driver.js';
import type { Received, Reply } from '../../../../../../test/support/vendor.js';

const settings = { ...config.settings, user: 'ada', domain: 'acme' };

/** Opens an input whose server answers the paths of `logins`, and the stream with one record. */
const opened = (
  login: Omit<PollLogin, 'kind'>,
  logins: Record<string, (request: Received) => Reply>,
  password: string,
) =>
  open(
    { authentication: { kind: 'login', ...login } },
    (_query, request) => logins[request.url]?.(request) ?? data(...records(0, 1)),
    { settings, secrets: { password } },
  );

test('sends credentials in JSON and carries a token and a value of the response', async () => {
  let count = 0;
  const { driver, clock, requests } = await opened(
    {
      requests: [
        {
          url: '/auth/{{/settings/domain}}/login',
          headers: { 'x-client': 'connector' },
          json: { user: '/settings/user', password: '/secrets/password', options: [{ mode: '{{/settings/domain}}!' }] },
          values: {
            token: { path: '/data/token' },
            session: { header: 'x-session' },
            none: { path: '/x', optional: true },
          },
        },
      ],
      lifetime: { path: '/data/expires', until: 'rfc3339' },
      send: {
        headers: { Authorization: 'Token {{token}}', 'X-Session': '{{session}}' },
        query: { account: '{{/settings/domain}}' },
      },
    },
    {
      '/auth/acme/login': () => ({
        headers: { 'x-session': `s${(count += 1)}` },
        body: { data: { token: `canary-${count}`, expires: new Date(START + count * 600_000).toISOString() } },
      }),
    },
    'canary-1',
  );
  await driver.poll();
  await driver.poll();
  expect(requests.map(({ method, url }) => `${method} ${url.split('?')[0]}`)).toEqual([
    'POST /auth/acme/login',
    'GET /events',
    'GET /events',
  ]);
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
    user: 'ada',
    password: 'canary-1',
    options: [{ mode: 'acme!' }],
  });
  expect(requests[0]?.headers).toMatchObject({ 'x-client': 'connector', 'content-type': 'application/json' });
  expect(requests[2]?.headers).toMatchObject({ authorization: 'Token canary-1', 'x-session': 's1' });
  expect(requests[2]?.url).toContain('account=acme');
  // Renewed before it expires.
  clock.ms += 570_000;
  await driver.poll();
  expect(requests.at(-1)?.headers.authorization).toBe('Token canary-2');
});

test('keeps a session in cookies, through several calls, until it expires', async () => {
  let session = 0;
  const { driver, requests } = await opened(
    {
      requests: [
        { url: '/start', values: { csrf: { cookie: 'csrf' } } },
        {
          url: `${ORIGIN}/j_security_check`,
          form: { j_username: '/settings/user', j_password: '/secrets/password' },
          headers: { 'X-CSRF': '{{csrf}}' },
        },
      ],
      lifetime: { seconds: 86_400 },
      send: { headers: { 'X-CSRF': '{{csrf}}' }, cookies: 'all' },
      expired: [403],
    },
    {
      '/start': () => ({ headers: { 'set-cookie': 'csrf=c1; Path=/; Secure' } }),
      '/j_security_check': () => ({ headers: { 'set-cookie': `JSESSIONID=canary${(session += 1)}; HttpOnly` } }),
    },
    'can&ary',
  );
  await driver.poll();
  expect(requests[1]).toMatchObject({
    method: 'POST',
    body: 'j_username=ada&j_password=can%26ary',
    headers: { 'x-csrf': 'c1', cookie: 'csrf=c1', 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(requests[2]?.headers).toMatchObject({ cookie: 'csrf=c1; JSESSIONID=canary1', 'x-csrf': 'c1' });
  session = 5;
  const { driver: again, requests: sent } = await opened(
    {
      requests: [{ url: '/login', values: { token: { path: '' } } }],
      lifetime: { seconds: 86_400 },
      send: { cookies: { token: '{{token}}' } },
      expired: [403],
    },
    { '/login': () => ({ body: `text-${(session += 1)}` }) },
    'canary-text',
  );
  await again.poll();
  expect(sent[1]?.headers.cookie).toBe('token=text-6');
});

test('logs in again when a session ends early', async () => {
  let valid = '';
  const { driver, requests } = await open(
    {
      authentication: {
        kind: 'login',
        requests: [
          {
            url: '/login',
            basic: { user: '/settings/user', password: '/secrets/password' },
            values: { t: { path: '/t' } },
          },
        ],
        lifetime: { seconds: 3_600 },
        send: { headers: { 'x-token': '{{t}}' } },
        expired: [403],
      },
    },
    (_query, { url, headers }) => {
      if (url === '/login') return { body: { t: (valid = `t${requests.length}`) } };
      return headers['x-token'] === valid ? data(...records(0, 1)) : { status: 403 };
    },
    { settings, secrets: { password: 'canary-early' } },
  );
  await driver.poll();
  expect(requests[0]).toMatchObject({
    method: 'GET',
    headers: { authorization: `Basic ${Buffer.from('ada:canary-early').toString('base64')}` },
  });
  valid = 'gone';
  await driver.poll();
  expect(requests.map(({ url }) => url.split('?')[0])).toEqual(['/login', '/events', '/events', '/login', '/events']);
});

test('logs in again when a rule of the definition says that the session has ended', async () => {
  let valid = '';
  const { driver, requests } = await open(
    {
      authentication: {
        kind: 'login',
        requests: [{ url: '/login', json: { p: '/secrets/password' }, values: { t: { path: '/t' } } }],
        lifetime: { seconds: 3_600 },
        send: { headers: { 'x-token': '{{t}}' } },
      },
      responses: [{ status: 200, path: '/code', in: ['EXPIRED'], means: 'invalid_credentials' }],
    },
    (_query, { url, headers }) => {
      if (url === '/login') return { body: { t: (valid = `t${requests.length}`) } };
      return headers['x-token'] === valid ? data(...records(0, 1)) : { body: { code: 'EXPIRED' } };
    },
    { settings, secrets: { password: 'canary-rule' } },
  );
  await driver.poll();
  valid = 'gone';
  await driver.poll();
  expect(requests.map(({ url }) => url.split('?')[0])).toEqual(['/login', '/events', '/events', '/login', '/events']);
});

test('refreshes a token, and logs in if that is refused', async () => {
  let refused = false;
  const { driver, clock, requests } = await opened(
    {
      requests: [
        {
          url: '/login',
          json: { password: '/secrets/password' },
          values: { token: { path: '/t' }, refresh: { path: '/r' } },
        },
      ],
      refresh: {
        url: '/refresh',
        form: { r: '{{refresh}}' },
        values: { token: { path: '/t' }, refresh: { path: '/r' } },
      },
      lifetime: { path: '/minutes', unit: 'minutes' },
      send: { headers: { 'x-token': '{{token}}' } },
    },
    {
      '/login': () => ({ body: { t: 'a', r: 'r1', minutes: 10 } }),
      '/refresh': ({ body }) => (refused ? { status: 401 } : { body: { t: body, r: 'r2', minutes: '10' } }),
    },
    'canary-refresh',
  );
  await driver.poll();
  clock.ms += 600_000;
  await driver.poll();
  expect(requests.at(-1)?.headers['x-token']).toBe('r=r1');
  refused = true;
  clock.ms += 600_000;
  await driver.poll();
  expect(requests.slice(-3).map(({ url }) => url.split('?')[0])).toEqual(['/refresh', '/login', '/events']);
});

test('stops after three refused logins, before an account is locked', async () => {
  let password = 'other';
  const login = {
    requests: [{ url: '/login', json: { p: '/secrets/password' }, values: { t: { path: '/t' } } }],
    send: { headers: { 'x-token': '{{t}}' } },
  };
  const logins = {
    '/login': ({ body }: Received) => (body.includes(password) ? { body: { t: 'a' } } : { status: 403 }),
  };
  const { driver, clock, requests } = await opened(login, logins, 'canary-wrong');
  const messages = new Set<string>();
  for (let attempt = 0; attempt < 4; attempt += 1) messages.add((await driver.fails()).message);
  // A restart of the pipeline and another one with the same connector make no difference.
  driver.restart();
  await driver.fails();
  const other = await open(
    { authentication: { kind: 'login', ...login } },
    (_query, request) => (request.url === '/login' ? logins['/login'](request) : data(...records(0, 1))),
    { secrets: { password: 'canary-wrong' }, settings: Object.fromEntries(Object.entries(settings).toReversed()) },
  );
  await other.driver.fails();
  expect([requests.length, other.requests.length]).toEqual([2, 0]);
  clock.ms += 3_600_000;
  await driver.fails();
  clock.ms += 1_000 * 3_600_000;
  const last = await driver.fails();
  expect(requests).toHaveLength(3);
  expect(last).toMatchObject({ code: 'invalid_credentials', kind: 'permanent' });
  expect([...messages, last.message].join()).not.toContain('canary');
  // The account works again, and a person asks.
  password = 'canary-wrong';
  await driver.poll(undefined, true);
  expect(driver.numbers).toEqual([0]);
  await other.driver.poll();
});

test.each<[string, Reply]>([
  ['JSON without a token', { body: { error: 'wrong password' } }],
  ['JSON and status 422', { status: 422, body: { error: 'wrong password' } }],
  ['a page without a session', { body: '<form>', headers: { 'content-type': 'text/html' } }],
])('counts %s as a refused login', async (name, reply) => {
  const { driver, requests } = await opened(
    {
      requests: [
        {
          url: '/login',
          form: { p: '/secrets/password' },
          values: { t: name.startsWith('JSON') ? { path: '/t' } : { cookie: 'session' } },
        },
      ],
      send: { headers: { 'x-token': '{{t}}' } },
    },
    { '/login': () => reply },
    `canary-${name}`,
  );
  for (let attempt = 0; attempt < 5; attempt += 1) expect(await driver.fails()).toMatchObject({ kind: 'permanent' });
  expect(await driver.fails()).toMatchObject({ code: 'invalid_credentials' });
  expect(requests).toHaveLength(2);
});

test('takes the session from a redirect, as forms set it', async () => {
  const { driver, requests } = await opened(
    { requests: [{ url: '/login', form: { p: '/secrets/password' } }], send: { cookies: 'all' } },
    { '/login': () => ({ status: 302, headers: { location: '/home', 'set-cookie': 'sid=canary; Path=/' } }) },
    'canary-form',
  );
  await driver.poll();
  expect(requests.map(({ url }) => url.split('?')[0])).toEqual(['/login', '/events']);
  expect(requests[1]?.headers.cookie).toBe('sid=canary');
});

/** https://docs.paloaltonetworks.com/pan-os/11-0/pan-os-panorama-api/get-started-with-the-pan-os-xml-api/get-your-api-key */
test('reads a token from XML', async () => {
  const { driver, requests } = await opened(
    {
      requests: [
        {
          url: '/api/',
          query: { type: 'keygen', user: '/settings/user', password: '/secrets/password' },
          format: 'xml',
          values: { key: { path: '/response/result/key' } },
        },
      ],
      send: { headers: { 'X-PAN-KEY': '{{key}}' } },
    },
    {
      '/api/?type=keygen&user=ada&password=canary-xml': () => ({
        body: '<response status = "success"><result><key>gJlQWE56987nBxIqyfa62sZeRtYuIo2BgzEA9UOnlZBhU</key></result></response>',
      }),
    },
    'canary-xml',
  );
  await driver.poll();
  expect(requests[1]?.headers['x-pan-key']).toBe('gJlQWE56987nBxIqyfa62sZeRtYuIo2BgzEA9UOnlZBhU');
});

/** The example key and time, obfuscated by hand: https://help.zscaler.com/zia/getting-started-zia-api */
test('computes values before it logs in', async () => {
  const { driver, clock, requests } = await opened(
    {
      steps: [{ name: 'key', kind: 'zscaler_key', of: '{{timestamp:milliseconds}}', key: '/secrets/password' }],
      requests: [{ url: '/login', json: { apiKey: '{{key}}', timestamp: '{{timestamp:milliseconds}}' } }],
      send: { cookies: 'all' },
    },
    { '/login': () => ({ headers: { 'set-cookie': 'JSESSIONID=canary' } }) },
    'abcdefghijkl',
  );
  clock.ms = 1_577_836_800_000;
  await driver.poll();
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ apiKey: 'iaaaaagccccc', timestamp: '1577836800000' });
});

test('takes the page of a login for the end of a session, and for a refusal if the session is fresh', async () => {
  const page = { body: '<html>', headers: { 'content-type': 'text/html; charset=utf-8' } };
  let valid = '';
  const cookies = {
    kind: 'login',
    requests: [{ url: '/login', form: { p: '/secrets/password' } }],
    lifetime: { seconds: 3_600 },
    send: { cookies: 'all' },
  } as const;
  const { driver, requests } = await open(
    { authentication: cookies },
    (_query, { url, headers }) => {
      if (url !== '/login') return headers.cookie === valid ? data(...records(0, 1)) : page;
      valid = `sid=s${requests.length}`;
      return { headers: { 'set-cookie': valid } };
    },
    { settings, secrets: { password: 'canary-page' } },
  );
  await driver.poll();
  valid = 'gone';
  await driver.poll();
  expect(requests.map(({ url }) => url.split('?')[0])).toEqual(['/login', '/events', '/events', '/login', '/events']);
  const wrong = await open(
    { authentication: cookies },
    (_query, { url }) => (url === '/login' ? { headers: { 'set-cookie': 'sid=none' } } : page),
    { settings, secrets: { password: 'canary-other-page' } },
  );
  for (let attempt = 0; attempt < 5; attempt += 1) await wrong.driver.fails();
  expect(wrong.requests.filter(({ url }) => url === '/login')).toHaveLength(2);
});

test('another password may be tried at once', async () => {
  const login = {
    requests: [{ url: '/login', json: { p: '/secrets/password' }, values: { t: { path: '/t' } } }],
    send: { headers: { 'x-token': '{{t}}' } },
  };
  const refuse = { '/login': () => ({ status: 401 }) };
  for (const password of ['canary-a', 'canary-b']) {
    const { driver, requests } = await opened(login, refuse, password);
    for (let attempt = 0; attempt < 4; attempt += 1) await driver.fails();
    expect(requests).toHaveLength(2);
  }
});

test('an outage of the login is retried and locks nothing', async () => {
  let status = 500;
  const { driver } = await opened(
    {
      requests: [{ url: '/login', json: { p: '/secrets/password' }, values: { t: { path: '/t' } } }],
      send: { headers: { 'x-token': '{{t}}' } },
    },
    { '/login': () => (status === 200 ? { body: { t: 'a' } } : { status }) },
    'canary-outage',
  );
  for (let attempt = 0; attempt < 5; attempt += 1) expect(await driver.fails()).toMatchObject({ kind: 'retry' });
  status = 200;
  await driver.poll();
  expect(driver.numbers).toEqual([0]);
});

const namedHost = (host: string) =>
  opened(
    {
      requests: [{ url: '/login', json: { p: '/secrets/password' }, values: { t: { path: '/t' } } }],
      send: { headers: { 'x-token': '{{t}}' } },
      host: { path: '/host', suffixes: ['.acme.example'] },
    },
    { '/login': () => ({ body: { t: 'canary', host } }) },
    `canary-${host}`,
  );

test("goes to the host that the login names, only if it is one of the vendor's", async () => {
  for (const host of [
    'attacker.example',
    'https://acme.example.attacker.example',
    'http://eu.acme.example',
    'xacme.example',
    'a@eu.acme.example',
    'eu.acme.example:444',
    '',
  ]) {
    const { driver, requests, elsewhere } = await namedHost(host);
    expect(await driver.fails()).toMatchObject({ code: 'unexpected_answer', kind: 'permanent' });
    expect([requests.length, elsewhere]).toEqual([1, []]);
  }
  const { driver, elsewhere } = await namedHost('eu.acme.example');
  await driver.fails();
  expect(elsewhere).toEqual(['https://eu.acme.example']);
  expect(await (await namedHost('api.acme.example')).driver.poll()).toBeUndefined();
});
