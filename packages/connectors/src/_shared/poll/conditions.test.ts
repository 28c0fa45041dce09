import { describe, expect, test } from 'vitest';
import type { PollAuthentication, PollCondition } from '@connector-frame/catalog';
import { data, open, records, stream, streamed } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';

describe('a stream with a condition', () => {
  const field = '/settings/kinds';
  const flag = '/settings/audit';
  test.each<[when: PollCondition | PollCondition[], settings: Record<string, unknown>, isRead: boolean]>([
    [{ field }, { kinds: ['alert'] }, true],
    [{ field }, { kinds: [] }, false],
    [{ field }, { kinds: ' ' }, false],
    [{ field: flag }, { audit: true }, true],
    [{ field: flag }, { audit: false }, false],
    [{ field: flag }, {}, false],
    [{ field: flag, empty: true }, { audit: false }, true],
    [{ field: flag, empty: true }, { audit: true }, false],
    [{ field, in: ['alert', 'login'] }, { kinds: ['login', 'page'] }, true],
    [{ field, in: ['alert'] }, { kinds: ['login'] }, false],
    [{ field, in: ['alert'] }, { kinds: [] }, false],
    [{ field, in: ['alert'], empty: true }, { kinds: [] }, true],
    [{ field, in: ['alert'], empty: true }, { kinds: ['login'] }, false],
    [{ field, in: [2] }, { kinds: 2 }, true],
    [[{ field }, { field: flag }], { kinds: 'a', audit: true }, true],
    [[{ field }, { field: flag }], { kinds: 'a', audit: false }, false],
  ])('%j is read with %j: %j', async (when, settings, isRead) => {
    const { driver } = await open(
      {
        streams: [
          { ...stream, when },
          { ...stream, name: 'others', path: '/others' },
        ],
      },
      (_query, { url }) => data({ id: url, n: url.startsWith('/events') ? 1 : 2, at: START }),
      { settings },
    );
    await driver.poll();
    expect(driver.numbers).toEqual(isRead ? [1, 2] : [2]);
  });

  test('keeps its cursor while it is not read', async () => {
    const log = records(0, 3);
    const settings: Record<string, unknown> = { audit: true };
    const { driver } = await open(streamed({ when: { field: flag } }), () => data(...log), { settings });
    await driver.poll();
    settings['audit'] = false;
    log.push(...records(3, 5));
    driver.restart();
    await driver.poll();
    expect(driver.delivered).toHaveLength(3);
    settings['audit'] = true;
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual([0, 1, 2, 3, 4]);
  });

  test('is tested like any other while none is read', async () => {
    const { driver, requests } = await open(streamed({ when: { field: flag } }), () => ({ status: 403 }));
    expect(await driver.fails()).toMatchObject({ kind: 'permanent' });
    expect(requests).toHaveLength(1);
  });
});

test.each([
  [true, 'details'],
  [false, undefined],
])('requests details only if the condition holds: %j', async (given, text) => {
  const { driver, requests } = await open(
    streamed({ detail: { path: '/events/{{/record/id}}', when: { field: '/settings/details' } } }),
    (_query, { url }) => (url === '/events/i0' ? { body: { text: 'details' } } : data(...records(0, 1))),
    { settings: { details: given } },
  );
  await driver.poll();
  expect(driver.delivered.map((record) => record['text'])).toEqual([text]);
  expect(requests).toHaveLength(given ? 2 : 1);
});

describe('signing in by what is filled', () => {
  const authentication: PollAuthentication = {
    kind: 'first',
    of: [
      { kind: 'bearer', secret: '/secrets/key' },
      { kind: 'basic', user: '/settings/user', password: '/secrets/password' },
    ],
  };
  const settings = { user: 'ada' };
  test.each<[secrets: Record<string, string>, header: string]>([
    [{ key: 'k' }, 'Bearer k'],
    [{ key: ' ', password: 'p' }, `Basic ${btoa('ada:p')}`],
    [{ key: 'k', password: 'p' }, 'Bearer k'],
  ])('with %j sends %j', async (secrets, header) => {
    const { driver, requests } = await open({ authentication }, () => data(), { settings, secrets });
    await driver.poll();
    expect(requests[0]?.headers.authorization).toBe(header);
  });

  test('reports what is missing, or signs in with nothing if that is allowed', async () => {
    await expect(open({ authentication }, () => data(), { settings, secrets: {} })).rejects.toMatchObject({
      code: 'invalid_config',
    });
    const { driver, requests } = await open(
      { authentication: { kind: 'first', of: [...authentication.of, { kind: 'none' }] } },
      () => data(),
      { settings, secrets: {} },
    );
    await driver.poll();
    expect(requests[0]?.headers.authorization).toBeUndefined();
  });
});

test('adds texts to records, also to those that details replace, without changing what identifies them', async () => {
  const { driver } = await open(
    streamed({
      each: { values: ['login', 'page'] },
      query: { kind: '{{each}}' },
      records: {
        path: '/data',
        add: {
          source: 'acme',
          kind: '{{each}}',
          team: 'team {{/settings/team}}',
          none: '{{/settings/none}}',
          total: '/total',
        },
      },
      cursor: { kind: 'none' },
      detail: { path: '/events/{{/record/id}}', into: 'replace' },
    }),
    (query, { url }) =>
      url.startsWith('/events/') ? { body: { url } } : { body: { data: [{ id: query.get('kind') }], total: 1 } },
    { settings: { team: 'blue' } },
  );
  await driver.poll();
  expect(driver.delivered).toEqual(
    ['login', 'page'].map((kind) => ({ url: `/events/${kind}`, source: 'acme', kind, team: 'team blue' })),
  );
});

test('takes the time from the first path that has a value', async () => {
  const { driver, requests } = await open(
    streamed({ records: { path: '/data', id: '/id', time: ['/changed', '/at'], time_form: 'milliseconds' } }),
    () => data({ id: 'a', at: START - 50_000, changed: null }, { id: 'b', at: 1, changed: START - 30_000 }),
  );
  await driver.poll();
  await driver.poll();
  expect(new URL(requests[1]?.url ?? '', 'http://x').searchParams.get('since')).toBe(
    new Date(START - 90_000).toISOString(),
  );
});
