import { loadCatalog } from '@connector-frame/catalog';
import type { Egress, JsonValue, PageInput } from '@connector-frame/engine/connector-api';
import { ManualClock } from '@connector-frame/engine/testing';
import { beforeEach, expect, test } from 'vitest';
import { generateServiceAccount } from '../../../../test/support/documented-exchanges.js';
import { read } from '../../../../test/support/s3-reading.js';
import { connectors, scheduleOf } from '../index.js';
import { RowCursor } from './row-cursor.js';

interface Row {
  at: number;
  n: number;
}
type Body = Record<string, unknown>;

/** A table, and as much of `jobs.query` as Google documents and the input's query needs. */
let rows: Row[];
let queries: Body[];
let expired: boolean;
const PAGE = 2;
beforeEach(() => {
  [rows, queries, expired] = [[], [], false];
});

function respond(url: URL, body: Body | undefined): Response {
  if (url.hostname === 'oauth2.googleapis.com') return Response.json({ access_token: 'token', expires_in: 3599 });
  if (body) queries.push(body);
  if (expired && !body) return Response.json({ error: { errors: [{ reason: 'notFound' }] } }, { status: 404 });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape of the API's reference
  const [parameter] = (queries.at(-1)?.['queryParameters'] ?? []) as { parameterValue: { value: string } }[];
  const since = parameter ? Date.parse(parameter.parameterValue.value) : Number.NEGATIVE_INFINITY;
  const isAfter = String(queries.at(-1)?.['query']).includes('> @since');
  const found = rows.filter(({ at }) => (isAfter ? at > since : at >= since)).toSorted((a, b) => a.at - b.at);
  const from = Number(url.searchParams.get('pageToken') ?? 0);
  return Response.json({
    kind: 'bigquery#queryResponse',
    jobComplete: true,
    jobReference: { jobId: 'job-1', location: 'EU' },
    schema: {
      fields: [
        { name: 'at', type: 'TIMESTAMP' },
        { name: 'n', type: 'INTEGER' },
      ],
    },
    rows: found.slice(from, from + PAGE).map(({ at, n }) => ({ f: [{ v: `${at}000` }, { v: String(n) }] })),
    ...(from + PAGE < found.length && { pageToken: String(from + PAGE) }),
  });
}
const egress: Egress = {
  connect: () => Promise.reject(new Error('Only HTTP is expected.')),
  fetch: (address, init) => {
    const isJson = init?.method === 'POST' && String(init.body).startsWith('{');
    const body: Body | undefined = isJson ? JSON.parse(String(init.body)) : undefined;
    return Promise.resolve(respond(new URL(address), body));
  },
};

const clock = new ManualClock(Date.parse('2026-11-12T10:00:00Z'));
function open(typeId: string, settings: object): PageInput {
  const type = loadCatalog().get('input', typeId);
  const config = {
    settings: { project: 'acme-prod-4711', dataset: 'security', table: 'events', ...settings },
    secrets: { credentials_json: generateServiceAccount() },
  };
  const input = type && connectors(type).createInput?.(config, { type, egress, clock });
  if (input?.kind !== 'pages') throw new Error('There is no input.');
  return input;
}
const openTable = () => open('bigquery', { timestamp_column: 'at' });
const openScheduled = () => open('bigquery-cron', { cron: '0 * * * *' });

test('reads each row once, also those with the greatest time that are added later', async () => {
  rows = [
    { at: 3, n: 3 },
    { at: 1, n: 1 },
    { at: 2, n: 2 },
  ];
  const first = await read(openTable());
  expect(first.numbers).toEqual([1, 2, 3]);
  rows.push({ at: 3, n: 4 }, { at: 3, n: 3 }, { at: 9, n: 5 });
  const second = await read(openTable(), first.cursor);
  expect(second.numbers).toEqual([4, 3, 5]);
  expect((await read(openTable(), second.cursor)).numbers).toEqual([]);
  expect(queries[1]).toMatchObject({
    parameterMode: 'NAMED',
    queryParameters: [
      { name: 'since', parameterType: { type: 'TIMESTAMP' }, parameterValue: { value: '1970-01-01T00:00:00.003000Z' } },
    ],
  });
});

test('continues after the page that was stored', async () => {
  rows = [1, 2, 3, 4, 5].map((n) => ({ at: n, n }));
  const first = await read(openTable(), undefined, 1);
  expect(first.numbers).toEqual([1, 2]);
  expect((await read(openTable(), first.cursor)).numbers).toEqual([3, 4, 5]);
});

test('does not remember thousands of rows with one time', async () => {
  const cursor = RowCursor.read(undefined);
  const isNew = cursor.start('at');
  for (let n = 0; n < 6_000; n += 1) expect(isNew({ at: '1', n }, 'DATE')).toBe(true);
  cursor.finish();
  expect(cursor.from).toEqual({ value: '1', type: 'DATE', includes: false });
});

test.each(['a`b', 'a\\b'])('rejects the column %s', (column) => {
  expect(() => open('bigquery', { timestamp_column: column })).toThrow('not valid in BigQuery');
});

test('reads all rows when the schedule is due, and continues a run with its results', async () => {
  rows = [1, 2, 3].map((n) => ({ at: n, n }));
  const all = await read(openScheduled());
  expect(all.numbers).toEqual([1, 2, 3]);
  expect((await read(openScheduled(), all.cursor)).numbers).toEqual([]);
  clock.advance(3_600_000);
  const part = await read(openScheduled(), all.cursor, 1);
  expect(part.numbers).toEqual([1, 2]);
  rows.push({ at: 4, n: 4 });
  const runs = queries.length;
  const rest: JsonValue | undefined = part.cursor;
  expect((await read(openScheduled(), rest)).numbers).toEqual([3, 4]);
  expect(queries).toHaveLength(runs);
  expired = true;
  expect((await read(openScheduled(), rest, 1)).numbers).toEqual([1, 2]);
});

test('has the schedule of its setting', () => {
  const type = loadCatalog().get('input', 'bigquery-cron');
  const schedule = type && scheduleOf(type, { cron: '30 * * * *' });
  expect(schedule?.text).toBe('30 * * * *');
  expect(schedule?.next(Date.parse('2026-11-12T10:00:00Z'))).toBe(Date.parse('2026-11-12T10:30:00Z'));
  const table = loadCatalog().get('input', 'bigquery');
  expect(table && scheduleOf(table, {})).toBeUndefined();
});
