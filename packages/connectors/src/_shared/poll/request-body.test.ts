import { describe, expect, test } from 'vitest';
import { data, open, records, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';
import { fillBody } from './body-template.js';

const settings = { region: ' eu ', ids: ['a', 'b'], limit: 7, deep: true, empty: '', none: [], account: '42' };

test.each([
  [
    'keeps the types of values',
    { n: '{{page_size}}', deep: '{{/settings/deep}}', ids: '{{/settings/ids}}' },
    { n: 50, deep: true, ids: ['a', 'b'] },
  ],
  ['makes text of a value inside text', { q: 'limit={{/settings/limit}}' }, { q: 'limit=7' }],
  [
    'sends times as numbers or text, by their format',
    { a: '{{since:milliseconds}}', b: '{{since}}' },
    { a: START, b: '2026-03-10T12:00:00.000Z' },
  ],
  [
    'keeps literals',
    { a: null, b: 1, c: false, d: '', e: [], f: {} },
    { a: null, b: 1, c: false, d: '', e: [], f: {} },
  ],
  [
    'omits properties without a value',
    { a: '{{/settings/empty}}', b: '{{/settings/none}}', c: 'x{{/settings/gone}}', d: 1 },
    { d: 1 },
  ],
  ['omits objects that lose all their properties', { range: { from: '{{/settings/gone}}' }, d: 1 }, { d: 1 }],
  [
    'omits list items that miss a value',
    {
      filters: [
        { field: 'id', in: '{{/settings/ids}}' },
        { field: 'team', in: '{{/settings/none}}' },
      ],
    },
    { filters: [{ field: 'id', in: ['a', 'b'] }] },
  ],
  [
    'omits an object without the value that it is for',
    {
      a: { '{{when}}': '{{/settings/gone}}', operator: 'in', values: '{{/settings/gone}}' },
      b: { '{{when}}': '{{/settings/ids}}', operator: 'in', values: '{{/settings/ids}}' },
      c: { '{{when}}': '{{/settings/region}}', operator: 'is' },
    },
    { b: { operator: 'in', values: ['a', 'b'] }, c: { operator: 'is' } },
  ],
  [
    'keeps an item without an optional part, and omits one that is optional itself',
    {
      items: [
        { n: 1, more: { '{{when}}': '{{/settings/gone}}', deep: true } },
        { '{{when}}': '{{/settings/gone}}', n: 2 },
      ],
      none: [{ '{{when}}': '{{/settings/gone}}', n: 3 }],
    },
    { items: [{ n: 1 }] },
  ],
  ['is empty if everything is omitted', { a: '{{/settings/gone}}' }, {}],
])('a JSON body %s', (_name, body, expected) => {
  expect(fillBody(body, { settings, since: START, page_size: 50 })).toEqual(expected);
});

describe('requests with a body', () => {
  const log = records(0, 7);

  test('sends time window, page size and page token in a JSON body', async () => {
    const { driver, requests } = await open(
      streamed({
        query: {},
        body: { start_time: '{{since:seconds}}', page: { size: '{{page_size}}' } },
        pagination: { kind: 'body_cursor', path: '/next', parameter: '/page/cursor' },
      }),
      (_query, { body }) => {
        const { page } = JSON.parse(body);
        const from = Number(page.cursor ?? 0);
        return { body: { data: log.slice(from, from + page.size), next: from < 6 ? String(from + page.size) : null } };
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
    expect(requests.map(({ method, url, headers }) => [method, url, headers['content-type']])).toEqual(
      requests.map(() => ['POST', '/events', 'application/json']),
    );
    expect(requests.map(({ body }): unknown => JSON.parse(body)).slice(0, 2)).toEqual([
      { start_time: START / 1_000 - 3_600, page: { size: 2 } },
      { start_time: START / 1_000 - 3_600, page: { size: 2, cursor: '2' } },
    ]);
  });

  test('sends a body with GET', async () => {
    const { driver, requests } = await open(
      streamed({ method: 'GET', query: {}, body: { since: '{{since}}', size: '{{page_size}}' } }),
      () => data(...log.slice(0, 1)),
    );
    await driver.poll();
    expect(requests.map(({ method, body }): unknown => [method, JSON.parse(body)])).toEqual([
      ['GET', { since: '2026-03-10T11:00:00.000Z', size: 2 }],
    ]);
    expect(driver.numbers).toEqual([0]);
  });

  // https://docs-cortex.paloaltonetworks.com/r/Cortex-XDR-REST-API/Get-all-Alerts
  test('sends both ends of a page', async () => {
    const { driver, requests } = await open(
      streamed({
        query: {},
        body: { request_data: { since: '{{since:milliseconds}}' } },
        pagination: { kind: 'offset', parameter: '/request_data/search_from', end: '/request_data/search_to' },
      }),
      (_query, { body }) => {
        const { request_data: of } = JSON.parse(body);
        return data(...log.slice(of.search_from, of.search_to));
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
    expect(requests.map(({ body }) => JSON.parse(body).request_data)).toMatchObject([
      { search_from: 0, search_to: 2 },
      { search_from: 2, search_to: 4 },
      { search_from: 4, search_to: 6 },
      { search_from: 6, search_to: 8 },
    ]);
  });

  test('sends offsets and page numbers as numbers', async () => {
    const { driver } = await open(
      streamed({
        method: 'PUT',
        query: {},
        body: { since: '{{since}}', from: 0 },
        pagination: { kind: 'offset', parameter: '/from' },
      }),
      (_query, { method, body }) => {
        const { from } = JSON.parse(body);
        return method === 'PUT' && typeof from === 'number' ? data(...log.slice(from, from + 2)) : { status: 400 };
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
  });

  // Dropbox: https://www.dropbox.com/developers/documentation/http/teams#team_log-get_events-continue
  test('sends further pages to another path, with nothing but the token', async () => {
    const { driver, requests } = await open(
      streamed({
        path: '/2/team_log/get_events',
        query: {},
        body: { limit: '{{page_size}}', time: { start_time: '{{since:rfc3339_seconds}}' } },
        next: { path: '/2/team_log/get_events/continue', body: {} },
        records: { path: '/events', id: '/id', time: '/at', time_form: 'milliseconds' },
        pagination: { kind: 'body_cursor', path: '/cursor', more: '/has_more', parameter: '/cursor' },
        headers: { 'x-team': '1' },
      }),
      (_query, { url, body }) => {
        const sent = JSON.parse(body);
        const isFirst = url === '/2/team_log/get_events';
        if (!isFirst && Object.keys(sent).join() !== 'cursor') return { status: 400 };
        const from = isFirst ? 0 : Number(sent.cursor);
        return { body: { events: log.slice(from, from + 2), cursor: String(from + 2), has_more: from < 6 } };
      },
    );
    await driver.poll(1);
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
    expect(requests.map(({ headers }) => headers['x-team'])).toEqual(requests.map(() => '1'));
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ limit: 2, time: { start_time: '2026-03-10T11:00:00Z' } });
  });

  test('a page token replaces a number in the body by a number', async () => {
    const { driver, requests } = await open(
      streamed({
        query: {},
        body: { since: '{{since}}', cursor: 0 },
        pagination: { kind: 'body_cursor', path: '/next', parameter: '/cursor' },
      }),
      (_query, { body }) => {
        const { cursor } = JSON.parse(body);
        return { body: { data: log.slice(cursor, cursor + 4), ...(cursor < 4 && { next: cursor + 4 }) } };
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
    expect(requests[1]?.body).toContain('"cursor":4');
  });

  test('sends a form', async () => {
    const { driver, requests } = await open(
      streamed({
        query: {},
        form: { since: '{{since:seconds}}', team: '{{/settings/team}}', kind: 'a&b' },
        pagination: { kind: 'page', parameter: '/page', first: 1 },
      }),
      (_query, { body }) => {
        const from = (Number(new URLSearchParams(body).get('page')) - 1) * 2;
        return data(...log.slice(from, from + 2));
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
    expect(requests[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(requests[1]?.body).toBe(`since=${START / 1_000 - 3_600}&kind=a%26b&page=2`);
  });

  test('a token next to `has_more: false` ends the pages', async () => {
    const { driver, requests } = await open(
      streamed({ pagination: { kind: 'body_cursor', path: '/cursor', parameter: 'c', more: '/has_more' } }),
      (query) => {
        const from = Number(query.get('c') ?? 0);
        return { body: { data: log.slice(from, from + 2), cursor: String(from + 2), has_more: from < 4 } };
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(6));
    expect(requests).toHaveLength(3);
  });
});

describe('GraphQL', () => {
  const log = records(0, 5);
  const graphql = streamed({
    path: '/graphql',
    query: {},
    graphql: {
      query: 'query Events($first: Int!, $after: String, $since: DateTime) { events(first: $first) { nodes { id } } }',
      variables: { first: '{{page_size}}', since: '{{since}}' },
    },
    records: { path: '/data/events/nodes', id: '/id', time: '/at', time_form: 'milliseconds' },
    pagination: {
      kind: 'body_cursor',
      path: '/data/events/pageInfo/endCursor',
      more: '/data/events/pageInfo/hasNextPage',
      parameter: '/variables/after',
    },
  });

  // Connections as in https://relay.dev/graphql/connections.htm: `endCursor` is not null on the last page.
  test('reads a connection page by page', async () => {
    const { driver, requests } = await open(graphql, (_query, { body }) => {
      const { first, after = '0' } = JSON.parse(body).variables;
      const nodes = log.slice(Number(after), Number(after) + first);
      const end = Number(after) + nodes.length;
      return {
        body: { data: { events: { nodes, pageInfo: { endCursor: String(end), hasNextPage: end < log.length } } } },
      };
    });
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(5));
    expect(requests).toHaveLength(3);
  });

  // Errors as in https://spec.graphql.org/October2021/#sec-Errors, codes of Apollo Server and GitHub.
  test.each([
    [
      { errors: [{ message: 'canary' }], data: { events: { nodes: [] } } },
      { code: 'upstream_error', kind: 'retry' },
    ],
    [
      { errors: [{ message: 'canary', extensions: { code: 'UNAUTHENTICATED' } }], data: null },
      { code: 'invalid_credentials', kind: 'permanent' },
    ],
    [{ errors: [{ type: 'RATE_LIMITED', message: 'canary' }] }, { code: 'rate_limited', kind: 'throttled' }],
  ])('reports errors of a successful response: %j', async (body, expected) => {
    const { driver } = await open(graphql, () => ({ body }));
    const error = await driver.fails();
    expect(error).toMatchObject(expected);
    expect(JSON.stringify(error) + error.message).not.toContain('canary');
    expect(driver.delivered).toEqual([]);
  });

  test('lets the status of a failed response decide what unknown errors mean', async () => {
    const { driver } = await open(graphql, () => ({ status: 400, body: { errors: [{ message: 'Syntax Error' }] } }));
    expect(await driver.fails()).toMatchObject({ kind: 'permanent' });
  });
});
