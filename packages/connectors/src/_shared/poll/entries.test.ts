import { describe, expect, test } from 'vitest';
import { data, open, records, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import type { Received } from '../../../../../test/support/vendor.js';

const pathOf = ({ url }: Received): string => url.split('?')[0] ?? '';
const list = { page_size: 2, records: { path: '/data', id: '/id' }, pagination: { kind: 'none' } } as const;

describe('entries', () => {
  test.each([
    [{ values: ['login', 'admin'] }, ['login', 'admin']],
    [{ setting: '/settings/kinds' }, ['x', 'y z']],
    [{ setting: '/settings/kind' }, ['x']],
  ])('of %j', async (each, expected) => {
    const { driver, requests } = await open(
      streamed({ each, query: { kind: '{{each}}', since: '{{since}}' } }),
      (query) => data({ id: query.get('kind'), n: query.get('kind') }),
      { settings: { kinds: ['x', ' y z ', 'x', ''], kind: 'x' } },
    );
    await driver.poll();
    driver.restart();
    await driver.poll();
    expect(driver.delivered.map(({ n }) => n)).toEqual(expected);
    expect(requests).toHaveLength(2 * expected.length);
  });

  const zones = { ...list, path: '/zones', setting: '/settings/kinds' };
  test.each<[kinds: string[], path: string, expected: string[]]>([
    [['x'], '/zones/{{each}}/events', ['/zones/x/events']],
    [[], '/zones/{{each}}/events', ['/zones', '/zones/a%2F1/events', '/zones/b/events']],
    [[], '/zones/{{each|path}}/events', ['/zones', '/zones/a/1/events', '/zones/b/events']],
  ])('of a setting with %j, otherwise of the list of the vendor, as %s', async (kinds, path, expected) => {
    const { driver, requests } = await open(
      streamed({ each: zones, path }),
      (_query, request) => (pathOf(request) === '/zones' ? data({ id: 'a/1' }, { id: 'b' }) : data()),
      { settings: { kinds } },
    );
    await driver.poll();
    expect(requests.map(pathOf)).toEqual(expected);
  });

  test('are those whose name is in a setting', async () => {
    const zonesOfName = {
      ...list,
      path: '/zones',
      records: { ...list.records, only: { path: '/name', field: '/settings/zone' } },
    };
    const read = (zone: string) =>
      open(
        streamed({ each: zonesOfName, path: '/zones/{{each}}/events' }),
        (_query, request) =>
          pathOf(request) === '/zones' ? data({ id: 1, name: 'acme.com' }, { id: 2, name: 'acme.org' }) : data(),
        { settings: { zone } },
      );
    const { driver, requests } = await read('acme.org');
    await driver.poll();
    expect(requests.map(pathOf)).toEqual(['/zones', '/zones/2/events']);
    const { driver: unknown } = await read('acme.net');
    expect(await unknown.fails()).toMatchObject({ code: 'invalid_config', kind: 'permanent' });
    const { driver: all, requests: sent } = await read('');
    await all.poll();
    expect(sent.map(pathOf)).toEqual(['/zones', '/zones/1/events', '/zones/2/events']);
  });

  test('that are objects have several values', async () => {
    const reports = [{ id: 'r 1', owner: { name: 'ada' } }, { id: 'r2', owner: { name: 'bob' } }, { id: 'r3' }];
    const definition = streamed({
      each: { setting: '/settings/reports', id: '/id' },
      path: '/{{each/owner/name}}/{{each}}',
    });
    const read = (given: unknown[]) => open(definition, () => data(), { settings: { reports: given } });
    const { driver, requests } = await read(reports.slice(0, 2));
    await driver.poll();
    expect(requests.map(pathOf)).toEqual(['/ada/r%201', '/bob/r2']);
    const { driver: incomplete } = await read(reports);
    expect((await incomplete.fails()).message).toContain('address');
    const listed = await open(
      streamed({ each: { ...list, path: '/zones' }, query: { owner: '{{each/owner/name}}' } }),
      (_query, request) => (pathOf(request) === '/zones' ? data(...reports) : data()),
    );
    await listed.driver.poll();
    expect(listed.requests.map(({ url }) => url)).toEqual([
      '/zones',
      '/events?owner=ada',
      '/events?owner=bob',
      '/events',
    ]);
  });

  test('whose slashes are kept do not lead to another path', async () => {
    const { driver, requests } = await open(
      streamed({ each: { setting: '/settings/kinds' }, path: '/files/{{each|path}}' }),
      () => data(),
      { settings: { kinds: ['a/../../admin'] } },
    );
    expect((await driver.fails()).message).toContain('address');
    expect(requests).toEqual([]);
  });

  test('of two levels, each with its own cursor, with a stop in between', async () => {
    const teams: Record<string, string[]> = { blue: ['a', 'b'], red: ['a'], empty: [] };
    const logs = new Map([
      ['blue/a', records(0, 3)],
      ['blue/b', records(3, 5)],
      ['red/a', records(5, 8)],
    ]);
    const { driver, requests } = await open(
      streamed({
        each: { ...list, path: '/orgs/{{parent}}/teams', each: { ...list, path: '/orgs' } },
        path: '/orgs/{{parent}}/teams/{{each}}/events',
        pagination: { kind: 'offset', parameter: 'skip' },
      }),
      (query, { url }) => {
        const [, , org = '', , team] = new URL(url, 'http://x').pathname.split('/');
        if (org === '') return data(...Object.keys(teams).map((id) => ({ id })));
        if (team === undefined) return data(...(teams[org] ?? []).map((id) => ({ id })));
        const from = Number(query.get('skip') ?? 0);
        return data(...(logs.get(`${org}/${team}`) ?? []).slice(from, from + 2));
      },
    );
    await driver.poll(3);
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(8));
    logs.get('red/a')?.push(...records(8, 9));
    teams['blue'] = ['b'];
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(9));
    expect(driver.cursor).toContain('"events/red/a"');
    expect(driver.cursor).not.toContain('"events/blue/a"');
    expect(requests.map(pathOf)).toContain('/orgs/red/teams/a/events');
  });
});

test('a list is read again when it is due, and keeps its cursors while it is empty', async () => {
  let ids = ['a', 'b'];
  const each = { ...list, path: '/orgs', refresh_seconds: 600 };
  const { driver, requests, clock } = await open(streamed({ each, path: '/orgs/{{each}}/events' }), (_query, request) =>
    pathOf(request) === '/orgs'
      ? data(...ids.map((id) => ({ id })))
      : data({ id: pathOf(request), n: 0, at: clock.ms }),
  );
  const lists = (): number => requests.filter((request) => pathOf(request) === '/orgs').length;
  await driver.poll();
  await driver.poll();
  expect([lists(), driver.delivered.length]).toEqual([1, 2]);
  ids = [];
  clock.ms += 600_000;
  await driver.poll();
  ids = ['a', 'b'];
  clock.ms += 600_000;
  await driver.poll();
  expect([lists(), driver.delivered.length]).toEqual([3, 2]);
});
