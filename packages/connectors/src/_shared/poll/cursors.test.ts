import { describe, expect, test } from 'vitest';
import { data, open, records, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';

const byTime = { path: '/data', id: '/id', time: '/at', time_form: 'milliseconds' } as const;

describe('a token that stays valid', () => {
  // https://developer.box.com/guides/events/user-events/for-user
  test('is a stream position that begins with a marker', async () => {
    let log = records(0, 3);
    const definition = streamed({
      query: { limit: '{{page_size}}' },
      pagination: { kind: 'body_cursor', path: '/next_stream_position', parameter: 'stream_position' },
      cursor: {
        kind: 'continue',
        first: { path: '/events', query: { stream_position: 'now' }, token: '/next_stream_position' },
      },
    });
    const { driver, requests } = await open(definition, (query) => {
      const position = query.get('stream_position');
      const from = position === 'now' ? log.length : Number(position);
      const found = log.slice(from, from + 2);
      return { body: { data: found, next_stream_position: from + found.length } };
    });
    await driver.poll();
    log = records(0, 8);
    await driver.poll(2);
    driver.restart();
    await driver.poll();
    await driver.poll();
    expect(driver.numbers).toEqual([3, 4, 5, 6, 7]);
    expect(requests.at(-1)?.url).toBe('/events?limit=2&stream_position=8');
  });

  test('reports a gap when the position has expired, and continues from a new one', async () => {
    const log = records(0, 3);
    let valid = 'a';
    const { driver } = await open(
      streamed({
        query: {},
        pagination: { kind: 'body_cursor', path: '/next', parameter: 'position' },
        cursor: { kind: 'continue', first: { path: '/marker', token: '/next' } },
      }),
      (query, { url }) => {
        if (url === '/marker') return { body: { next: `${valid}-${log.length}` } };
        const [key, from] = (query.get('position') ?? '').split('-');
        if (key !== valid) return { status: 410 };
        return { body: { data: log.slice(Number(from)), next: `${valid}-${log.length}` } };
      },
    );
    await driver.poll();
    valid = 'b';
    log.push(...records(3, 5));
    expect(await driver.fails()).toMatchObject({ code: 'rejected', kind: 'retry' });
    log.push(...records(5, 7));
    await driver.poll();
    expect(driver.numbers).toEqual([5, 6]);
  });

  // https://learn.microsoft.com/graph/delta-query-overview
  test('is a delta link on the last page', async () => {
    let log = records(0, 5);
    const { driver, requests } = await open(
      streamed({
        query: {},
        pagination: { kind: 'body_url', path: '/@odata.nextLink' },
        cursor: { kind: 'continue', token: { path: '/@odata.deltaLink' } },
      }),
      (query) => {
        const from = Number(query.get('$skiptoken') ?? query.get('$deltatoken') ?? 0);
        const next = Math.min(from + 2, log.length);
        return {
          body: {
            data: log.slice(from, next),
            [next < log.length ? '@odata.nextLink' : '@odata.deltaLink']:
              next < log.length ? `/events?$skiptoken=${next}` : `/events?$deltatoken=${next}`,
          },
        };
      },
    );
    await driver.poll(1);
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(5));
    log = records(0, 8);
    driver.restart();
    await driver.poll();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(8));
    expect(requests.at(-1)?.url).toBe('/events?$deltatoken=8');
  });

  // https://developers.google.com/workspace/calendar/api/guides/sync
  // 416: https://techdocs.akamai.com/siem-integration/reference/416
  test.each([410, 416])('is sent as another parameter than the page, and starts over after a %i', async (status) => {
    let log = records(0, 3);
    let expired = false;
    const { driver } = await open(
      streamed({
        query: {},
        pagination: { kind: 'body_cursor', path: '/nextPageToken', parameter: 'pageToken' },
        cursor: { kind: 'continue', token: { path: '/nextSyncToken', parameter: 'syncToken' } },
      }),
      (query) => {
        if (expired && query.has('syncToken')) return { status };
        const from = Number(query.get('pageToken') ?? query.get('syncToken') ?? 0);
        const next = Math.min(from + 2, log.length);
        return {
          body: { data: log.slice(from, next), [next < log.length ? 'nextPageToken' : 'nextSyncToken']: String(next) },
        };
      },
    );
    await driver.poll();
    log = records(0, 6);
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(6));
    expired = true;
    await driver.poll();
    expect(driver.delivered).toHaveLength(12);
  });

  test('is a token in a body with a time to continue from when it has expired', async () => {
    const log = records(0, 7);
    let valid = 'a';
    const { driver } = await open(
      streamed({
        pagination: { kind: 'body_cursor', path: '/next', parameter: 'c', more: '/more' },
        cursor: { kind: 'link', overlap_seconds: 60, start: '/settings/start' },
      }),
      (query) => {
        const [key, text] = (query.get('c') ?? `${valid}-0`).split('-');
        if (key !== valid) return { status: 400 };
        const from = Number(text);
        return {
          body: {
            data: log.slice(from, from + 2),
            next: `${valid}-${Math.min(from + 2, log.length)}`,
            more: from + 2 < log.length,
          },
        };
      },
    );
    await driver.poll();
    log.push(...records(7, 9));
    await driver.poll();
    valid = 'b';
    log.push(...records(9, 12));
    await driver.poll();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(12));
  });
});

/** Ids around and beyond 2^53. */
const id = (n: number): string => String(9_007_199_254_740_990n + BigInt(n));

describe('ids', () => {
  test('ascending beyond 2^53, from a first value, where the requested id is returned again', async () => {
    const log = upTo(5).map((n) => ({ id: id(n), n }));
    const { driver, requests } = await open(
      streamed({
        query: { from: '{{after}}' },
        records: { path: '/data', id: '/id' },
        cursor: { kind: 'id', first: '0' },
        page_size: 3,
      }),
      (query) => {
        const from = BigInt(query.get('from') ?? -1);
        // Newest first within a page, as some vendors sort them.
        return data(
          ...log
            .filter((each) => BigInt(each.id) >= from)
            .slice(0, 3)
            .reverse(),
        );
      },
    );
    await driver.poll();
    log.push({ id: id(5), n: 5 });
    driver.restart();
    await driver.poll();
    expect(requests[0]?.url).toBe('/events?from=0');
    expect(driver.numbers).toEqual(upTo(6));
  });

  test('ascending with a flag for more pages', async () => {
    const log = upTo(6).map((n) => ({ id: n + 1, n }));
    const { driver } = await open(
      streamed({
        query: { after: '{{after}}' },
        records: { path: '/data', id: '/id' },
        cursor: { kind: 'id', more: '/more' },
        page_size: 100,
      }),
      (query) => {
        const rest = log.filter((each) => each.id > Number(query.get('after') ?? 0));
        return { body: { data: rest.slice(0, 2), more: rest.length > 2 } };
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(6));
  });

  test('descending until the last one of the previous poll, with a stop in between', async () => {
    const log = upTo(5).map((n) => ({ id: id(n), n }));
    const { driver, requests } = await open(
      streamed({
        query: {},
        records: { path: '/data', id: '/id' },
        pagination: { kind: 'page', parameter: 'page', first: 1 },
        cursor: { kind: 'id', order: 'descending' },
      }),
      (query) => {
        const from = (Number(query.get('page')) - 1) * 2;
        return data(...log.toReversed().slice(from, from + 2));
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(5));
    for (const n of [5, 6, 7]) log.push({ id: id(n), n });
    await driver.poll(1);
    driver.restart();
    log.push({ id: id(8), n: 8 });
    await driver.poll();
    await driver.poll();
    expect([...new Set(driver.numbers)]).toEqual(upTo(9));
    const before = requests.length;
    await driver.poll();
    expect(requests.length - before).toBe(1);
  });
});

test('a list of the newest records first ends at the window, without a time in the request', async () => {
  const log = records(0, 40);
  const { driver, requests, clock } = await open(
    streamed({
      query: {},
      records: byTime,
      pagination: { kind: 'offset', parameter: 'skip' },
      cursor: { kind: 'time', order: 'descending', overlap_seconds: 1, start: '/settings/start' },
    }),
    (query) => {
      const from = Number(query.get('skip') ?? 0);
      return data(...log.toReversed().slice(from, from + 2));
    },
    { settings: { start: new Date(START - 58_000).toISOString() } },
  );
  await driver.poll();
  // The first twenty are older than the start.
  expect(driver.numbers).toEqual(upTo(40).slice(20));
  const before = requests.length;
  clock.ms += 60_000;
  log.push({ id: 'x', n: 40, at: clock.ms });
  await driver.poll(1);
  driver.restart();
  log.push({ id: 'y', n: 41, at: clock.ms + 10 });
  clock.ms += 1_000;
  await driver.poll();
  await driver.poll();
  expect(driver.numbers).toEqual(upTo(42).slice(20));
  expect(requests.length - before).toBeLessThan(25);
});

test('a list in no order is read to its end, and only records of the window are delivered', async () => {
  const log = [...records(0, 3), { id: 'new', n: 3, at: START - 5_000 }, ...records(4, 7)];
  const { driver, requests, clock } = await open(
    streamed({
      query: {},
      records: byTime,
      pagination: { kind: 'page', parameter: 'page', first: 0, ends: 'empty_page' },
      cursor: { kind: 'time', order: 'any', overlap_seconds: 60, start: '/settings/start' },
    }),
    (query) => data(...log.slice(Number(query.get('page')) * 2).slice(0, 2)),
    { settings: { start: new Date(START - 30_000).toISOString() } },
  );
  await driver.poll();
  expect(driver.numbers).toEqual([3]);
  clock.ms += 30_000;
  log.unshift({ id: 'late', n: 9, at: START - 20_000 });
  await driver.poll(1);
  driver.restart();
  await driver.poll();
  expect(driver.numbers).toEqual([3, 9]);
  const before = requests.length;
  await driver.poll();
  expect(requests.length - before).toBe(5);
});

test('a window of ascending records that is read again begins at the newest one', async () => {
  const log = records(0, 3_000);
  const { driver, requests, clock } = await open(
    streamed({
      page_size: 500,
      pagination: { kind: 'offset', parameter: 'skip' },
      cursor: {
        kind: 'time',
        order: 'ascending',
        overlap_seconds: 1,
        seen: 200,
        resume: 'again',
        start: '/settings/start',
      },
    }),
    (query) => {
      const since = Date.parse(query.get('since') ?? '');
      const from = Number(query.get('skip') ?? 0);
      return data(...log.filter(({ at }) => at >= since).slice(from, from + 500));
    },
  );
  clock.ms += 600_000;
  await driver.poll(4);
  driver.restart();
  await driver.poll();
  expect(driver.numbers).toEqual(upTo(3_000));
  expect(requests).toHaveLength(7);
});
