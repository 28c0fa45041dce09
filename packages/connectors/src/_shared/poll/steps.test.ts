import { describe, expect, test } from 'vitest';
import type { PollDefinition, PollStream } from '@connector-frame/catalog';
import { START } from '../../../../../test/support/poll-driver.js';
import { data, FILES, open, records, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import type { Received, Reply } from '../../../../../test/support/vendor.js';

const HOUR = 3_600_000;
const pathOf = ({ url }: Received): string => url.split('?')[0] ?? '';

const detailed = (detail: PollStream['detail'], more: Partial<PollStream> = {}): Partial<PollDefinition> =>
  streamed({ pagination: { kind: 'offset', parameter: 'skip' }, page_size: 5, ...(detail && { detail }), ...more });

describe('details', () => {
  const all = records(0, 12);
  const respond =
    (detail: (id: string, request: Received) => Reply) =>
    (query: URLSearchParams, request: Received): Reply => {
      const path = pathOf(request);
      if (path !== '/events') return detail(decodeURIComponent(path.split('/').at(-1) ?? ''), request);
      const from = Number(query.get('skip') ?? 0);
      return data(...all.slice(from, from + 5));
    };

  test('are merged into new records, in order, a limited number at once', async () => {
    const { driver, requests } = await open(
      detailed({ path: '/details/{{/record/id}}', records: { path: '/alert' }, concurrency: 3 }),
      respond((id) => ({ body: { alert: { text: `about ${id}`, at: 'changed' } } })),
    );
    await driver.poll();
    expect(driver.delivered.map(({ n, text, at }) => [n, text, at])).toEqual(
      upTo(12).map((n) => [n, `about i${n}`, 'changed']),
    );
    driver.restart();
    await driver.poll();
    // Records that were delivered before have no new request.
    expect(requests.filter((request) => pathOf(request).startsWith('/details/'))).toHaveLength(12);
  });

  test('keep the rate limit although several are requested at once', async () => {
    const { driver, clock } = await open(
      { rate: { limit: '/settings/limit' }, ...detailed({ path: '/details/{{/record/id}}', concurrency: 4 }) },
      respond(() => ({ body: { text: '' } })),
      { settings: { limit: { rate: 1, unit: 'per_second' } } },
    );
    const before = clock.ms;
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(12));
    // Three pages and twelve details, the first at once.
    expect(clock.ms - before).toBeGreaterThanOrEqual(14_000);
  });

  test.each([
    ['replace', { a: 1 }, [{ a: 1 }]],
    ['replace', [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 2 }]],
    ['more', [1, 2], [expect.objectContaining({ id: 'i0', more: [1, 2] })]],
  ])('become the record or a part of it: %s %j', async (into, body, expected) => {
    const { driver } = await open(
      detailed({ path: '/details/{{/record/id}}', records: { path: '/d' }, into }),
      (_query, request) => (pathOf(request) === '/events' ? data(all[0]) : { body: { d: body } }),
    );
    await driver.poll();
    expect(driver.delivered).toEqual(expected);
  });

  test('that are gone leave the record, others fail the page', async () => {
    let broken = true;
    const { driver } = await open(
      detailed({ path: '/details/{{/record/id}}' }),
      respond((id) =>
        id === 'i1' ? { status: 404 } : id === 'i7' && broken ? { status: 500 } : { body: { ok: true } },
      ),
    );
    expect(await driver.fails()).toMatchObject({ code: 'upstream_error', kind: 'retry' });
    expect(driver.numbers).toEqual(upTo(5));
    broken = false;
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(12));
    expect(driver.delivered[1]).toEqual(all[1]);
  });

  test.each([
    ['joined', { query: { ids: '{{ids}}' } }],
    ['repeated', { query: { id: { list: 'ids' } } }],
    ['in a body', { body: { ids: '{{ids}}' } }],
  ])('are requested in batches of ids, %s', async (_name, request) => {
    const { driver, requests } = await open(
      detailed({ path: '/details', batch: 3, records: { path: '/data', id: '/of' }, ...request }),
      respond((_last, { url, body }) => {
        const query = new URL(url, 'http://x').searchParams;
        const ids: unknown = body === '' ? (query.get('ids')?.split(',') ?? query.getAll('id')) : JSON.parse(body).ids;
        if (!Array.isArray(ids) || ids.length > 3) return { status: 400 };
        // In another order, and without one of them.
        return data(...ids.toReversed().flatMap((of) => (of === 'i4' ? [] : [{ of, text: `about ${of}` }])));
      }),
    );
    await driver.poll();
    expect(driver.delivered.map(({ text }) => text)).toEqual(
      upTo(12).map((n) => (n === 4 ? undefined : `about i${n}`)),
    );
    expect(requests.filter((each) => pathOf(each) === '/details')).toHaveLength(5);
  });

  test('are read early where the list has only ids: their time and id tell what is new', async () => {
    const log = records(0, 7);
    const { driver } = await open(
      streamed({
        query: { since: '{{since:milliseconds}}' },
        records: { path: '/ids', id: ['/id', '/at'], time: '/at', time_form: 'milliseconds' },
        pagination: { kind: 'none' },
        detail: {
          path: '/details',
          body: { ids: '{{ids}}' },
          batch: 3,
          early: true,
          ids: '/value',
          into: 'replace',
          records: { path: '/data', id: '/id' },
        },
      }),
      (query, { body }) => {
        if (body !== '') return data(...log.filter(({ id }) => JSON.parse(body).ids.includes(id)));
        const since = Number(query.get('since'));
        return { body: { ids: log.filter(({ at }) => at >= since).map(({ id }) => id) } };
      },
    );
    await driver.poll();
    expect(driver.delivered).toEqual(log);
    log.push(...records(7, 9));
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(9));
    // The vendor updates a record that is in the overlap.
    const updated = { id: 'i8', n: 8, at: START - 59_000 };
    log.splice(8, 1, updated);
    driver.restart();
    await driver.poll();
    expect(driver.delivered.slice(9)).toEqual([updated]);
  });
});

const job = (parts: NonNullable<PollStream['job']>['parts']): Partial<PollStream> => ({
  path: parts?.url ? '/unused' : '/exports/{{job}}/{{part}}',
  query: {},
  pagination: parts?.url ? { kind: 'none' } : { kind: 'offset', parameter: 'skip' },
  job: {
    start: { path: '/exports', body: { since: '{{since:seconds}}' }, id: '/export' },
    status: { path: '/exports/{{job}}', value: '/status', done: ['FINISHED'], failed: ['ERROR'] },
    every_seconds: 3_600,
    ...(parts && { parts }),
  },
});

/** A vendor with exports of parts of at most three records. Its status changes as the test says. */
const vendor = (parts: (id: string, count: number) => unknown) => {
  const log = records(0, 7);
  const jobs: { since: number; log: typeof log }[] = [];
  const state = { status: 'QUEUED' };
  const respond = (query: URLSearchParams, { url, method, body }: Received): Reply => {
    const [, , id = '', part] = new URL(url, 'http://x').pathname.split('/');
    if (method === 'POST') {
      const since = Number(JSON.parse(body).since) * 1_000;
      jobs.push({ since, log: log.filter(({ at }) => at >= since) });
      return { body: { export: jobs.length } };
    }
    const found = jobs[Number(id) - 1]?.log;
    if (!found) return { status: 404 };
    if (part === undefined) return { body: { status: state.status, chunks: parts(id, Math.ceil(found.length / 3)) } };
    const from = Number(part) * 3 + Number(query.get('skip') ?? 0);
    return data(...found.slice(from, Math.min(from + 2, (Number(part) + 1) * 3)));
  };
  return { log, jobs, state, respond };
};

describe('an export', () => {
  test('is started, awaited and read part by part, and continues after restarts', async () => {
    const { log, jobs, state, respond } = vendor((_id, count) => upTo(count));
    const { driver, clock } = await open(streamed(job({ path: '/chunks' })), respond);
    await driver.poll();
    state.status = 'PROCESSING';
    driver.restart();
    await driver.poll();
    expect([jobs.length, driver.delivered.length]).toEqual([1, 0]);
    state.status = 'FINISHED';
    for (let pages = 0; pages < 6; pages += 1) {
      driver.restart();
      await driver.poll(1);
    }
    expect(driver.numbers).toEqual(upTo(7));
    // The next one starts when it is due, at the newest record.
    driver.restart();
    await driver.poll();
    expect(jobs).toHaveLength(1);
    clock.ms += HOUR;
    log.push(...records(7, 9));
    await driver.poll();
    expect(jobs).toHaveLength(2);
    expect(jobs[1]?.since).toBeGreaterThan(jobs[0]?.since ?? 0);
    expect(driver.numbers).toEqual(upTo(9));
  });

  test('is started by a schedule, or on request, and finished between', async () => {
    const { jobs, state, respond } = vendor((_id, count) => upTo(count));
    const { streams: [exported] = [] } = streamed(job({ path: '/chunks' }));
    if (!exported?.job) throw new Error('no job');
    const { every_seconds: _every, ...scheduled } = exported.job;
    const streams = ['first', 'second'].map((name) => ({ ...exported, name, job: scheduled }));
    const { driver, clock } = await open(
      { streams, schedule: '/settings/cron' },
      (query, request) => (pathOf(request) === '/events' ? data() : respond(query, request)),
      { settings: { cron: '0 * * * *', start: '2026-03-10T11:00:00Z' } },
    );
    const after = async (ms: number): Promise<number> => {
      clock.ms += ms;
      driver.restart();
      await driver.poll();
      return jobs.length;
    };
    expect(await after(0)).toBe(2);
    expect(await after(HOUR / 2)).toBe(2);
    state.status = 'FINISHED';
    expect([await after(0), driver.delivered.length]).toEqual([2, 14]);
    expect(await after(HOUR / 4)).toBe(2);
    expect(await after(HOUR / 4)).toBe(4);
    expect(await after(HOUR / 4)).toBe(4);
    await driver.poll(undefined, true);
    expect(jobs).toHaveLength(6);
  });

  test('is read from the URLs of its parts, never from an unlisted host', async () => {
    const { state, respond } = vendor((id, count) => upTo(count).map((part) => ({ url: `/exports/${id}/${part}` })));
    state.status = 'FINISHED';
    const { driver } = await open(streamed(job({ path: '/chunks', id: '/url', url: true })), respond);
    await driver.poll();
    // Without pages, two records of each part.
    expect(driver.numbers).toEqual([0, 1, 3, 4, 6]);
    const away = vendor(() => [{ url: 'https://attacker.example/x' }]);
    away.state.status = 'FINISHED';
    const opened = await open(streamed(job({ path: '/chunks', id: '/url', url: true })), away.respond);
    expect(await opened.driver.fails()).toMatchObject({ code: 'redirected', kind: 'permanent' });
    expect(opened.elsewhere).toEqual([]);
  });

  test('with one file names it by a text, and is run again unless its filter has changed', async () => {
    const created: unknown[] = [];
    const ran: string[] = [];
    const gone = new Set<string>();
    let isDown = false;
    const respond = (_query: URLSearchParams, { url, method, body }: Received): Reply => {
      const [, , id = '', action] = url.split('/');
      if (action === 'run') {
        if (isDown) return { status: 503 };
        if (gone.has(id)) return { status: 404 };
        ran.push(id);
        return { body: { export: id } };
      }
      if (method === 'POST') return { body: { export: `e${created.push(JSON.parse(body))}` } };
      if (action === 'file') return data({ id, run: ran.length });
      return { body: { status: 'FINISHED', file: `${FILES}/exports/${id}/file` } };
    };
    const definition = streamed({
      path: '',
      query: {},
      download_hosts: ['storage.example'],
      records: { path: '/data' },
      cursor: { kind: 'none' },
      job: {
        start: { path: '/exports', body: { level: '{{/settings/level}}' }, id: '/export' },
        again: { path: '/exports/{{job}}/run', method: 'POST', id: '/export' },
        status: { path: '/exports/{{job}}', value: '/status', done: ['FINISHED'] },
        parts: { path: '/file', url: true },
        every_seconds: 3_600,
      },
    });
    const settings = { level: 'low' };
    const { driver, clock } = await open(definition, respond, { settings });
    const next = async (): Promise<unknown[]> => {
      const before = driver.delivered.length;
      driver.restart();
      await driver.poll();
      clock.ms += HOUR;
      return driver.delivered.slice(before);
    };
    expect([await next(), await next()]).toEqual([[{ id: 'e1', run: 0 }], [{ id: 'e1', run: 1 }]]);
    isDown = true;
    expect(await driver.fails()).toMatchObject({ kind: 'retry' });
    isDown = false;
    settings.level = 'high';
    expect(await next()).toEqual([{ id: 'e2', run: 1 }]);
    gone.add('e2');
    expect(await next()).toEqual([{ id: 'e3', run: 1 }]);
    expect([created, ran]).toEqual([[{ level: 'low' }, { level: 'high' }, { level: 'high' }], ['e1']]);
  });

  test('that fails or never ends is given up, and another one is started', async () => {
    const { jobs, state, respond } = vendor((_id, count) => upTo(count));
    const { driver, clock } = await open(streamed(job({ path: '/chunks' })), respond);
    state.status = 'ERROR';
    expect(await driver.fails()).toMatchObject({ code: 'upstream_error', kind: 'retry' });
    state.status = 'PROCESSING';
    await driver.poll();
    expect(jobs).toHaveLength(2);
    clock.ms += 7 * HOUR;
    expect(await driver.fails()).toMatchObject({ code: 'timeout', kind: 'retry' });
    state.status = 'FINISHED';
    await driver.poll();
    expect(jobs).toHaveLength(3);
    expect(driver.numbers).toEqual(upTo(7));
  });

  test('without parts or records moves on', async () => {
    const { jobs, state, respond } = vendor(() => null);
    state.status = 'FINISHED';
    const { driver, clock } = await open(streamed(job({ path: '/chunks' })), respond);
    await driver.poll();
    clock.ms += HOUR;
    await driver.poll();
    expect(jobs).toHaveLength(2);
    expect(driver.delivered).toEqual([]);
  });
});

// Office 365 rejects to start a subscription again with 400.
test('sends the request that prepares a stream once for each start', async () => {
  const { driver, requests } = await open(
    streamed({
      each: { values: ['a', 'b'] },
      path: '/{{each}}/events',
      prepare: {
        path: '/{{each}}/start',
        method: 'POST',
        responses: [{ status: 400, path: '/code', in: ['AF20024'], means: 'accepted' }],
      },
    }),
    (_query, { url }) => (url.endsWith('/start') ? { status: 400, body: { code: 'AF20024' } } : data()),
  );
  await driver.poll();
  await driver.poll();
  driver.restart();
  await driver.poll();
  expect(requests.filter(({ method }) => method === 'POST').map(({ url }) => url)).toEqual([
    '/a/start',
    '/b/start',
    '/a/start',
    '/b/start',
  ]);
});
