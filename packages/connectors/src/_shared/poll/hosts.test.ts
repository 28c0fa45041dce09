import { describe, expect, test } from 'vitest';
import type { PollAddress } from '@connector-frame/catalog';
import { config, data, open, ORIGIN, records, stream, streamed } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';
import { readAddress } from './address.js';
import { parametersOf } from './template.js';

const subject = { product: 'Acme' };
const settings = {
  url: 'https://siem.example:8443/tenant/blue/?x=1#top',
  host: 'siem.example:8443',
  region: 'eu',
  org: 'a/b c',
  bad: 'evil.example/x',
  plain: 'http://siem.example',
  user: 'https://ada@siem.example',
};

describe('the address of requests', () => {
  test.each<[PollAddress, string]>([
    ['{{/settings/url}}', 'https://siem.example:8443/tenant/blue/?x=1'],
    ['{{/settings/url}}/api/v2', 'https://siem.example:8443/tenant/blue/api/v2'],
    ['https://{{/settings/host}}/api', 'https://siem.example:8443/api'],
    ['https://{{/settings/region}}.acme.example', 'https://eu.acme.example/'],
    ['https://api.acme.example/orgs/{{/settings/org}}', 'https://api.acme.example/orgs/a%2Fb%20c'],
    [
      { field: '/settings/region', of: { us: 'https://us.example', eu: 'https://eu.example/v1' } },
      'https://eu.example/v1',
    ],
  ])('%j', (address, expected) => {
    expect(readAddress(address, { settings }, subject).href).toBe(expected);
  });

  test.each<PollAddress>([
    'https://{{/settings/bad}}',
    'https://{{/settings/bad}}.acme.example',
    '{{/settings/plain}}',
    '{{/settings/user}}/api',
    '{{/settings/gone}}',
    { field: '/settings/org', of: { us: 'https://us.example' } },
    { field: '/settings/org', of: { 'a/b c': '{{/settings/plain}}' } },
  ])('rejects %j', (address) => {
    expect(() => readAddress(address, { settings }, subject)).toThrow('do not form a valid address');
  });

  test('an empty path requests a URL as it was entered, another one is appended to its path', async () => {
    const given = { settings: { ...config.settings, url: `${ORIGIN}/feed/?format=xml` } };
    const at = async (path: string): Promise<string | undefined> => {
      const { driver, requests } = await open(
        { base_url: '{{/settings/url}}', ...streamed({ path, query: { q: '1' } }) },
        () => data(),
        given,
      );
      await driver.poll();
      return requests[0]?.url;
    };
    expect(await at('')).toBe('/feed/?format=xml&q=1');
    expect(await at('/events')).toBe('/feed/events?q=1');
  });

  test('each stream may have its own, and its links stay there', async () => {
    const other = 'https://eu.acme.example';
    const { driver, requests, elsewhere } = await open(
      streamed({ base_url: `${ORIGIN}/v2`, pagination: { kind: 'link_header' } }),
      (query) =>
        query.has('from')
          ? data(...records(2, 3))
          : { ...data(...records(0, 2)), headers: { link: `<HTTP://API.acme.example/v2/events?from=2>; rel="next"` } },
    );
    await driver.poll();
    expect(driver.numbers).toEqual([0, 1, 2]);
    expect(requests[1]?.url).toBe('/v2/events?from=2');
    const moved = await open(streamed({ base_url: other }), () => data());
    expect(await moved.driver.fails()).toMatchObject({ code: 'dns_failed' });
    expect([elsewhere, moved.elsewhere]).toEqual([[], [other]]);
  });
});

test.each([
  [{ list: '/settings/tags' }, ['a', 'b c', '3']],
  [{ list: '/settings/tags', join: ',' }, ['a,b c,3']],
  [{ list: '/settings/tags', join: ' OR ', item: 'tag:"{{item}}"' }, ['tag:"a" OR tag:"b c" OR tag:"3"']],
  [{ list: ['alerts', '{{/settings/region}}', '{{/settings/gone}}'] }, ['alerts', 'eu']],
  [{ list: '/settings/none' }, []],
  [{ list: '/settings/gone', join: ',' }, []],
  [['a', '{{/settings/gone}}', 'b'], ['a b']],
  [100, ['100']],
  [false, ['false']],
])('the parameter %j', (parameter, expected) => {
  const given = { ...settings, tags: [' a', 'b c', 3, ''], none: [] };
  expect(parametersOf({ p: parameter }, { settings: given })).toEqual(expected.map((value) => ['p', value]));
});

test('sends headers from settings, and none without a value', async () => {
  const { driver, requests } = await open(
    {
      headers: { 'x-org': '{{/settings/org}}', 'x-gone': 'v{{/settings/gone}}', 'x-fixed': '1' },
      ...streamed({ headers: { 'x-since': '{{since:seconds}}' } }),
    },
    () => data(),
    { settings: { ...config.settings, org: 'blue' } },
  );
  await driver.poll();
  expect(requests[0]?.headers).toMatchObject({ 'x-org': 'blue', 'x-fixed': '1', 'x-since': '1773140400' });
  expect(requests[0]?.headers).not.toHaveProperty('x-gone');
  await expect(
    open({ headers: { 'x-org': '{{/settings/org}}' } }, () => data(), {
      settings: { ...config.settings, org: 'a\nb' },
    }),
  ).rejects.toMatchObject({ code: 'invalid_config', outcome: { issues: [{ path: '/settings/org' }] } });
});

test('never requests records older than the vendor keeps', async () => {
  const day = 86_400_000;
  const { driver, requests, clock } = await open(
    streamed({
      query: { since: '{{since}}', until: '{{until}}' },
      cursor: {
        ...stream.cursor,
        kind: 'time',
        overlap_seconds: 60,
        retention_seconds: 7 * 86_400,
        longest_seconds: 86_400,
      },
    }),
    () => data(),
    { settings: { start: '2026-01-01T00:00:00Z' } },
  );
  await driver.poll();
  clock.ms += 30 * day;
  driver.restart();
  await driver.poll();
  const since = requests.map(({ url }) => Date.parse(new URL(url, ORIGIN).searchParams.get('since') ?? ''));
  expect(since[0]).toBe(START - 7 * day + 300_000);
  expect(Math.min(...since.filter((_each, index) => index > 8))).toBeGreaterThanOrEqual(clock.ms - 7 * day);
});
