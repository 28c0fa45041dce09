import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { get, outcome, startHost } from '../../../../test/support/start-host.js';
import { usualAnswers } from '../../../../test/support/upstream.js';

let hosts: Awaited<ReturnType<typeof startHost>>;

beforeEach(async () => {
  hosts = await startHost();
});
afterEach(async () => {
  vi.useRealTimers();
  await hosts.close();
});

test('returns the types with icon URLs below apiBase', async () => {
  const answer = await hosts.create({ apiBase: 'https://api.example' })(get('/api/catalog?kind=input'));
  expect(answer.headers.get('cache-control')).toBe('private, max-age=60');
  const icons = 'https://api.example/external/icons/raw';
  expect(await answer.json()).toEqual([
    {
      type_id: 'okta-systemlog',
      name: 'Okta System Log',
      description: 'Sign-ins.',
      category: 'Identity',
      icon: null,
    },
    { type_id: 'http', name: 'HTTP', description: 'Any API.', category: 'Universal', icon: `${icons}/http.svg` },
    { type_id: 's3', name: 'Amazon S3', description: '', category: '', icon: `${icons}/s3.svg` },
  ]);
});

const typeWith = (type_id: string, features?: object) => ({ type_id, name: type_id, supported_features: features });

test('passes on whether the service runs a type, if it says so', async () => {
  await hosts.close();
  const body = [
    typeWith('runs', { runtime: true }),
    typeWith('saved-only', { runtime: false }),
    typeWith('other', {}),
    typeWith('none'),
  ];
  hosts = await startHost({ ...usualAnswers, 'GET /v1/inputs': { body } });
  const types: { runtime?: boolean }[] = await (await hosts.create()(get('/api/catalog?kind=input'))).json();
  expect(types.map((each) => each.runtime)).toEqual([true, false, undefined, undefined]);
});

test('passes on why the service does not run a type, and the names that people search for', async () => {
  await hosts.close();
  const stopped = { runtime: false, unavailable: { reason: 'agent' } };
  const unknown = { unavailable: { reason: 'no-idea' } };
  const body = [
    { ...typeWith('agent', { runtime: false }), unavailable: stopped.unavailable, aliases: ['on the host', 7] },
    { ...typeWith('of-a-newer-service', { runtime: false }), ...unknown },
    { ...typeWith('runs', { runtime: true }), unavailable: stopped.unavailable, aliases: 'none' },
  ];
  hosts = await startHost({ ...usualAnswers, 'GET /v1/inputs': { body } });
  const types: object[] = await (await hosts.create()(get('/api/catalog?kind=input'))).json();
  const shown = { description: '', category: '' };
  expect(types).toEqual([
    {
      ...shown,
      type_id: 'agent',
      name: 'agent',
      icon: expect.any(String),
      ...stopped,
      aliases: ['on the host'],
    },
    { ...shown, type_id: 'of-a-newer-service', name: 'of-a-newer-service', icon: expect.any(String), runtime: false },
    { ...shown, type_id: 'runs', name: 'runs', icon: expect.any(String), runtime: true },
  ]);
});

test('filters the types by allow; a kind that allow omits has no types', async () => {
  const host = hosts.create({ allow: { input: ['s3', 'unknown'] } });
  expect(await (await host(get('/api/catalog?kind=input'))).json()).toMatchObject([{ type_id: 's3' }]);
  expect(await (await host(get('/api/catalog?kind=output'))).json()).toEqual([]);
});

test('caches the catalog for a minute and shares concurrent requests', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const host = hosts.create();
  const read = async () => (await host(get('/api/catalog?kind=input'))).status;
  expect(await Promise.all([read(), read(), read()])).toEqual([200, 200, 200]);
  expect(hosts.seen).toHaveLength(1);
  vi.setSystemTime(Date.now() + 61_000);
  await read();
  expect(hosts.seen).toHaveLength(2);
});

test('does not cache a failure', async () => {
  await hosts.close();
  let broken = true;
  const list = usualAnswers['GET /v1/inputs'];
  hosts = await startHost({
    'GET /v1/inputs': (seen) => (broken ? { status: 500 } : typeof list === 'function' ? list(seen) : (list ?? {})),
  });
  const host = hosts.create();
  expect(await outcome(host(get('/api/catalog?kind=input')))).toEqual([502, 'upstream_error']);
  broken = false;
  expect((await host(get('/api/catalog?kind=input'))).status).toBe(200);
});

test.each(['', '?kind=', '?kind=inputs', '?kind=input&kind=output'])('rejects the query %j', async (query) => {
  expect(await outcome(hosts.create()(get(`/api/catalog${query}`)))).toEqual([400, 'invalid_request']);
  expect(hosts.seen).toEqual([]);
});
