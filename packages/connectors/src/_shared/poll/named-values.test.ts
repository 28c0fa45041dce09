import { expect, test } from 'vitest';
import type { PollDefinition } from '@connector-frame/catalog';
import { data, open, ORIGIN, records, stream, streamed } from '../../../../../test/support/poll-acme.js';

type Settings = Record<string, unknown>;
const none = { kind: 'none' } as const;

/** Returns the first request of a definition with these values and this stream, for some settings. */
async function sent(definition: Partial<PollDefinition>, settings: Settings) {
  const { driver, requests } = await open(definition, () => data(), { settings });
  await driver.poll();
  const [first] = requests;
  return {
    url: first?.url,
    headers: first?.headers,
    body: first?.body ? (JSON.parse(first.body) as unknown) : undefined,
  };
}

const severity = { field: '/settings/severity', of: { low: '1', high: 'HIGH', all: null } };

test.each([
  ['low', '/v1/1/events?level=1&q=s%3A1'],
  ['high', '/v1/HIGH/events?level=HIGH&q=s%3AHIGH'],
])('sends the value of a choice as %s', async (choice, url) => {
  const definition = {
    values: { level: severity },
    ...streamed({ path: '/v1/{{level}}/events', query: { level: '{{level}}', q: ['s:{{level}}'] }, cursor: none }),
  };
  expect((await sent(definition, { severity: choice })).url).toBe(url);
});

test.each([
  [{ names: ['a/b', 'c'] }, { field: '/settings/names', first: true }],
  [{ names: ' a/b , c' }, { field: '/settings/names', split: ',', first: true }],
] as const)('sends the first item of %j', async (settings, name) => {
  const definition = { values: { name }, ...streamed({ path: '/v1/{{name|path}}/events', cursor: none }) };
  expect((await sent(definition, settings)).url).toBe('/v1/a/b/events');
});

test('sends a value of the first object of a list', async () => {
  const name = { field: '/settings/reports', path: '/id', first: true } as const;
  const definition = { values: { name }, ...streamed({ path: '/v1/{{name|path}}/events', cursor: none }) };
  const reports = [{ title: 'x' }, { id: ' ' }, { id: 'a/b' }, { id: 'c' }];
  expect((await sent(definition, { reports })).url).toBe('/v1/a/b/events');
});

test('omits what has no value: a parameter, a header and a property', async () => {
  const definition = {
    values: { level: severity },
    ...streamed({
      query: { level: '{{level}}', n: 1 },
      headers: { 'x-level': '{{level}}' },
      body: { level: '{{level}}', n: 1 },
      cursor: none,
    }),
  };
  const { url, headers, body } = await sent(definition, { severity: 'all' });
  expect({ url, header: headers?.['x-level'], body }).toEqual({
    url: '/events?n=1',
    header: undefined,
    body: { n: 1 },
  });
  expect(await sent(definition, { severity: 'high' })).toMatchObject({
    url: '/events?level=HIGH&n=1',
    headers: { 'x-level': 'HIGH' },
    body: { level: 'HIGH', n: 1 },
  });
});

test('sends a switch in the words of the vendor, or only if it is on', async () => {
  const definition = {
    values: {
      mine: { field: '/settings/mine', of: { true: 1, false: 0 } },
      closed: { field: '/settings/closed', of: { true: true, false: null } },
    },
    ...streamed({
      query: { mine: '{{mine}}', closed: '{{closed}}' },
      body: { mine: '{{mine}}', closed: '{{closed}}' },
      cursor: none,
    }),
  };
  const on = await sent(definition, { mine: true, closed: true });
  expect([on.url, on.body]).toEqual(['/events?mine=1&closed=true', { mine: 1, closed: true }]);
  const off = await sent(definition, { mine: false, closed: false });
  expect([off.url, off.body]).toEqual(['/events?mine=0', { mine: 0 }]);
});

const atLeast = {
  field: '/settings/lowest',
  of: { low: ['low', 'medium', 'high'], medium: ['medium', 'high'], high: ['high'] },
};

test('requests a severity and all above it', async () => {
  const definition = {
    values: { severities: atLeast },
    ...streamed({
      query: { severity: { list: 'severities' }, joined: { list: 'severities', item: '{{item:upper}}', join: ',' } },
      body: { severities: '{{severities}}' },
      cursor: none,
    }),
  };
  const { url, body } = await sent(definition, { lowest: 'medium' });
  expect([url, body]).toEqual([
    '/events?severity=medium&severity=high&joined=MEDIUM%2CHIGH',
    { severities: ['medium', 'high'] },
  ]);
});

test('keeps records of a severity and all above it, where the vendor cannot filter', async () => {
  const levels = ['low', 'high', 'medium', 'low'];
  const found = records(0, 4).map((record, index) => ({ ...record, level: levels[index] }));
  const only = { path: '/level', field: 'severities' };
  const { driver } = await open(
    { values: { severities: atLeast }, ...streamed({ records: { ...stream.records, only } }) },
    () => data(...found),
    { settings: { start: '2026-03-10T11:00:00Z', lowest: 'medium' } },
  );
  await driver.poll();
  expect(driver.numbers).toEqual([1, 2]);
});

test('splits a text into a list, and replaces its items', async () => {
  const definition = {
    values: {
      hosts: { field: '/settings/hosts', split: ',' },
      names: { field: '/settings/names', split: ',', of: { All: null, none: [0, 1] } },
      kinds: { field: '/settings/kinds', of: { a: 'A', b: ['B', 'C'] } },
    },
    ...streamed({
      query: { host: { list: 'hosts' } },
      body: { hosts: '{{hosts}}', names: '{{names}}', kinds: '{{kinds}}' },
      cursor: none,
    }),
  };
  const { url, body } = await sent(definition, { hosts: ' 1, 2,,3 ', names: 'x, none', kinds: ['b', 'a'] });
  expect([url, body]).toEqual([
    '/events?host=1&host=2&host=3',
    { hosts: ['1', '2', '3'], names: ['x', 0, 1], kinds: ['B', 'C', 'A'] },
  ]);
  expect((await sent(definition, { hosts: ' , ', names: 'All' })).body).toEqual({});
});

test('parses a setting that contains JSON, and rejects one that does not', async () => {
  const definition = {
    values: { filter: { field: '/settings/filter', json: true } as const },
    ...streamed({ query: {}, body: { filter: '{{filter}}', n: 1 }, cursor: none }),
  };
  const filter = '{ "field": "severity", "value": ["{{/settings/start}}", 1] }';
  expect((await sent(definition, { filter })).body).toEqual({ filter: JSON.parse(filter), n: 1 });
  expect((await sent(definition, { filter: ' ' })).body).toEqual({ n: 1 });
  await expect(sent(definition, { filter: '{' })).rejects.toMatchObject({ code: 'invalid_config', kind: 'permanent' });
});

test('uses a default for an empty setting, with other settings in it', async () => {
  const definition = {
    values: {
      group: { field: '/settings/group', default: 'all-{{/settings/team}}' },
      scope: { field: '/settings/group', of: { '*': 'group' }, default: 'team' },
      states: { field: '/settings/states', default: ['open', 'new'] },
    },
    ...streamed({
      path: '/{{scope}}/{{group}}',
      query: { state: { list: 'states' }, upper: '{{/settings/team:upper}}' },
      cursor: none,
    }),
  };
  expect((await sent(definition, { team: 'a' })).url).toBe('/team/all-a?state=open&state=new&upper=A');
  expect((await sent(definition, { team: 'a', group: 'g', states: ['x'] })).url).toBe('/group/g?state=x&upper=A');
});

test.each<[string, PollDefinition['base_url'], Settings]>([
  ['by default', { field: '/settings/url', default: ORIGIN }, { url: '' }],
  ['of a setting', { field: '/settings/url', default: 'https://other.example' }, { url: `${ORIGIN}/` }],
  ['by a switch', { field: '/settings/eu', of: { true: ORIGIN, false: 'https://us.example' } }, { eu: true }],
  [
    'by whether a setting is filled',
    {
      field: '/settings/tenant',
      of: { '*': 'https://{{/settings/tenant}}.acme.example' },
      default: 'https://x.example',
    },
    { tenant: 'api' },
  ],
])('selects an address %s', async (_name, base, settings) => {
  const { driver, requests, elsewhere } = await open({ base_url: base }, () => data(), { settings });
  await driver.poll();
  expect([requests.length > 0, elsewhere]).toEqual([true, []]);
});

test('identifies each request by a header', async () => {
  const { driver, requests } = await open(
    streamed({ query: {}, headers: { 'x-request-id': '{{uuid}}' }, cursor: none }),
    () => data(),
  );
  await driver.poll();
  await driver.poll();
  const ids = requests.map(({ headers }) => String(headers['x-request-id']));
  expect(ids.filter((id) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))).toHaveLength(2);
  expect(new Set(ids).size).toBe(2);
});

test('reads a stream for each item of a text', async () => {
  const { driver, requests } = await open(
    {
      values: { teams: { field: '/settings/teams', split: ',' } },
      ...streamed({ path: '/{{each:upper}}/events', query: {}, each: { setting: 'teams' }, cursor: none }),
    },
    () => data(),
    { settings: { teams: 'a, b' } },
  );
  await driver.poll();
  expect(requests.map(({ url }) => url)).toEqual(['/A/events', '/B/events']);
});
