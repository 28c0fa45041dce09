import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BUCKET_KEYS, problem, startFakeBucket, type FakeBucket } from '../../../../../test/support/fake-bucket.js';
import type { JsonValue } from '../../records/record.js';
import type { Page, PageInput } from '../../runner/ends.js';
import { ManualClock } from '../../testing/manual-clock.js';
import { openInput } from '../../testing/s3-ends.js';

let bucket: FakeBucket;
beforeAll(async () => {
  bucket = await startFakeBucket();
});
beforeEach(() => {
  bucket.objects.clear();
  bucket.requests.length = 0;
  bucket.intercept = undefined;
  bucket.now = () => Date.now();
});
afterAll(() => bucket.close());
afterEach(() => {
  bucket.intercept = undefined;
});

const never = new AbortController().signal;
const YEAR_2020 = '2020-01-01T00:00:00Z';
const OLD = Date.parse('2026-01-01T00:00:00Z');
const open = (changes: Record<string, unknown> = {}, secrets: Record<string, unknown> = BUCKET_KEYS): PageInput =>
  openInput({ endpoint: bucket.origin, backfill_start_time: YEAR_2020, ...changes }, secrets);

interface Reading {
  pages: Page[];
  cursor: JsonValue | undefined;
  numbers: unknown[];
  refused: string[];
  codes: string[];
}

/** All there is now. Pages and cursors went through JSON, as between two processes. */
async function read(input: PageInput, cursor?: JsonValue, stopAfter = Number.POSITIVE_INFINITY): Promise<Reading> {
  const pages: Page[] = [];
  for await (const page of input.pages(cursor, never)) {
    pages.push(JSON.parse(JSON.stringify(page)));
    if (pages.length >= stopAfter) break;
  }
  return {
    pages,
    cursor: pages.at(-1)?.cursor ?? cursor,
    numbers: pages.flatMap((page) => page.records.map((record) => record['n'])),
    refused: pages.flatMap((page) => (page.unreadable ?? []).map(({ reason }) => reason)),
    codes: pages.flatMap((page) => (page.notes ?? []).map(({ code }) => code)),
  };
}

const lines = (from: number, count: number, fill = ''): string =>
  Array.from({ length: count }, (_, n) => `${JSON.stringify({ n: from + n, ...(fill && { fill }) })}\n`).join('');
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('what is read, and when', () => {
  test('objects in the order of their times, each once', async () => {
    bucket.put('z', lines(0, 2), OLD);
    bucket.put('b', lines(2, 2), OLD + 1_000);
    bucket.put('a', lines(6, 2), OLD + 2_000);
    bucket.put('c', lines(4, 2), OLD + 1_000);
    const first = await read(open());
    expect(first.numbers).toEqual(upTo(8));
    expect((await read(open(), first.cursor)).numbers).toEqual([]);
    // A name before all others, and a time like one that was read.
    bucket.put('0', lines(8, 1), Date.now() - 1_000_000);
    bucket.put('00', lines(9, 1));
    expect((await read(open(), first.cursor)).numbers).toEqual([8, 9]);
  });

  test('without a start, only what is written from now on', async () => {
    bucket.put('old', lines(100, 1), Date.now() - 60_000);
    const first = await read(open({ backfill_start_time: undefined }));
    expect(first.numbers).toEqual([]);
    expect(first.cursor).toBeDefined();
    bucket.put('new', lines(0, 1));
    expect((await read(open({ backfill_start_time: undefined }), first.cursor)).numbers).toEqual([0]);
  });

  test('what carries a time before others that were read, as a long upload does, is not missed', async () => {
    const now = Date.now();
    bucket.put('b', lines(0, 1), now);
    const first = await read(open());
    bucket.put('a', lines(1, 1), now - 50 * 60_000);
    const second = await read(open(), first.cursor);
    expect(second.numbers).toEqual([1]);
    expect((await read(open(), second.cursor)).numbers).toEqual([]);
  });

  test('thousands, with continuation, and with one time', async () => {
    for (let n = 0; n < 2_500; n += 1) bucket.put(`logs/${String(n).padStart(5, '0')}`, lines(n, 1), OLD);
    bucket.put('elsewhere', lines(9_999, 1), OLD);
    const { numbers, pages } = await read(open({ prefix: 'logs/' }));
    expect(numbers).toEqual(upTo(2_500));
    expect(Math.max(...pages.map((page) => page.records.length))).toBe(1_000);
    expect(bucket.requests.filter(({ key }) => key === '').length).toBe(3);
  });

  test('keys with any character', async () => {
    const keys = [
      "a b+c%20&d='é😀.json",
      'x/\u0007\n<>"\\?#[]{}|^`~!*()',
      ' /./x'.replace('/./', '/.../'),
      'ü//end ',
      '%2e%2e/x',
    ];
    for (const [n, key] of keys.entries()) bucket.put(key, lines(n, 1), OLD + n * 1_000);
    expect((await read(open())).numbers).toEqual(upTo(keys.length));
    expect(bucket.read.toSorted()).toEqual(keys.toSorted());
  });

  test('a key that would lead out of the bucket is skipped, and nothing is asked for by it', async () => {
    bucket.put('../other/secrets.json', lines(8, 1), OLD);
    bucket.put('a/./b', lines(9, 1), OLD);
    bucket.put('fine', lines(0, 1), OLD);
    const { numbers, refused } = await read(open());
    expect(numbers).toEqual([0]);
    expect(refused).toEqual(['object_skipped: unaddressable', 'object_skipped: unaddressable']);
    expect(bucket.requests.map(({ key }) => key)).toEqual(['', 'fine']);
  });

  test('markers of folders and empty objects are nothing; one that is gone is no trouble', async () => {
    bucket.put('folder/', '', OLD);
    bucket.put('empty', '', OLD);
    bucket.put('gone', lines(9, 1), OLD);
    bucket.put('here', lines(0, 1), OLD);
    bucket.intercept = ({ key }) => (key === 'gone' ? problem(404, 'NoSuchKey') : undefined);
    const { numbers, refused, codes } = await read(open());
    expect([numbers, refused, codes]).toEqual([[0], [], []]);
  });

  test.each([
    ['include', 'ends_with', '.json', ['b/x.json']],
    ['exclude', 'ends_with', '.json', ['a/y.txt']],
    ['include', 'starts_with', 'a/', ['a/y.txt']],
    ['exclude', 'contains', '/x', ['a/y.txt']],
  ])('filter: %s %s %s', async (mode, operator, value, expected) => {
    bucket.put('a/y.txt', lines(0, 1), OLD);
    bucket.put('b/x.json', lines(1, 1), OLD);
    await read(open({ key_filter: { type: 'filter', filter: { mode, operator, value } } }));
    expect(bucket.read).toEqual(expected);
  });

  test('folders of days: only the last ones are listed in between, late ones are found with the next sweep', async () => {
    const clock = new ManualClock(Date.parse('2026-11-12T10:00:00Z'));
    bucket.now = () => clock.now();
    const input = openInput(
      { endpoint: bucket.origin, prefix: 'p/', partition_format: 'simple date' },
      BUCKET_KEYS,
      clock,
    );
    let { cursor } = await read(input);
    bucket.put('p/2026/11/12/a', lines(0, 1));
    const first = await read(input, cursor);
    expect(first.numbers).toEqual([0]);
    expect(bucket.requests.at(-2)?.query.get('start-after')).toBe('p/2026/11/10');
    bucket.put('p/2026/10/01/late', lines(1, 1));
    const second = await read(input, first.cursor);
    expect(second.numbers).toEqual([]);
    clock.advance(3_600_000);
    const third = await read(input, second.cursor);
    expect(third.numbers).toEqual([1]);
    // A name outside of the folders: everything is listed each time.
    bucket.put('p/123/2026/11/12/a', lines(2, 1));
    clock.advance(3_600_000);
    ({ cursor } = await read(input, third.cursor));
    bucket.put('p/123/2026/11/12/b', lines(3, 1));
    expect((await read(input, cursor)).numbers).toEqual([3]);
  });
});

describe('large objects', () => {
  test('pages of bounded size, and a new process goes on in the middle', async () => {
    bucket.put('big', gzipSync(lines(0, 5_500, 'x'.repeat(200))), OLD);
    bucket.put('next', lines(5_500, 10), OLD + 1_000);
    const part = await read(open(), undefined, 2);
    expect(part.numbers).toEqual(upTo(2_000));
    const rest = await read(open(), part.cursor);
    expect([...part.numbers, ...rest.numbers]).toEqual(upTo(5_510));
    expect(Math.max(...rest.pages.map((page) => page.records.length))).toBeLessThanOrEqual(1_000);
  });

  test('an object that was replaced while it was read is begun again', async () => {
    bucket.put('big', lines(0, 2_500), OLD);
    const part = await read(open(), undefined, 1);
    bucket.put('big', lines(10_000, 1_500));
    const rest = await read(open(), part.cursor);
    expect(rest.numbers).toEqual(upTo(1_500).map((n) => n + 10_000));
  });

  test('replaced between listing and reading: the new content is read at once', async () => {
    bucket.put('a', lines(0, 5), OLD);
    let swapped = false;
    bucket.intercept = ({ key }) => {
      if (key === 'a' && !swapped) {
        swapped = true;
        bucket.put('a', lines(10, 3));
      }
      return undefined;
    };
    expect((await read(open())).numbers).toEqual([10, 11, 12]);
  });

  test('a storage that knows no If-Match is not believed either', async () => {
    bucket.put('a', lines(0, 5), OLD);
    let asked = 0;
    bucket.intercept = ({ key }) => {
      if (key !== 'a' || (asked += 1) > 1) return undefined;
      bucket.put('a', lines(10, 1));
      return { headers: { etag: '"another"' }, body: lines(10, 1) };
    };
    expect((await read(open())).numbers).toEqual([10]);
  });

  test.each([
    ['with Range', true],
    ['without Range', false],
  ])('a connection that breaks off is taken up where it was, %s', async (_name, ranges) => {
    const body = gzipSync(
      upTo(3_000)
        .map((n) => lines(n, 1, randomUUID()))
        .join(''),
    );
    bucket.put('a', body, OLD);
    const ranged: (string | undefined)[] = [];
    bucket.intercept = ({ key, headers }) => {
      if (key !== 'a') return undefined;
      ranged.push(headers.range);
      const etag = { etag: `"${bucket.objects.get('a')?.etag}"` };
      if (ranged.length < 3) {
        const from = ranges ? Number(headers.range?.slice(6, -1) ?? 0) : 0;
        const partly = from > 0 ? { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` } : {};
        return {
          status: from > 0 ? 206 : 200,
          headers: { ...etag, ...partly },
          body: body.subarray(from),
          cutAfter: 3_000 * ranged.length,
        };
      }
      return ranges ? undefined : { headers: etag, body };
    };
    expect((await read(open())).numbers).toEqual(upTo(3_000));
    expect(ranged.length).toBe(3);
    expect(ranged[2]).toMatch(/^bytes=\d+-$/);
  });

  test('one that always breaks off is a failure, and what was read before it is delivered', async () => {
    bucket.put('a', lines(0, 3), OLD);
    bucket.put('b', lines(3, 100), OLD + 1_000);
    bucket.intercept = ({ key, headers }) =>
      key === 'b'
        ? {
            status: headers.range ? 206 : 200,
            headers: { 'content-range': `bytes ${headers.range?.slice(6) ?? ''}` },
            body: lines(3, 100),
            cutAfter: 0,
          }
        : undefined;
    const pages: Page[] = [];
    const reading = (async () => {
      for await (const page of open().pages(undefined, never)) pages.push(page);
    })();
    await expect(reading).rejects.toMatchObject({ name: 'EndError', kind: 'retry' });
    expect(pages.flatMap((page) => page.records.map(({ n }) => n))).toEqual([0, 1, 2]);
    bucket.intercept = undefined;
    expect((await read(open(), pages.at(-1)?.cursor)).numbers).toEqual(upTo(103).slice(3));
  });
});

describe('what can not be read stops nothing', () => {
  const fast = { now: () => Date.now(), sleep: () => Promise.resolve() };
  const quick = (changes: Record<string, unknown>): PageInput =>
    openInput({ endpoint: bucket.origin, backfill_start_time: YEAR_2020, ...changes }, BUCKET_KEYS, fast);

  test.each([
    [
      'damaged gzip',
      Buffer.concat([gzipSync(lines(0, 1)).subarray(0, 12), Buffer.from('rubbish in the middle')]),
      {},
      'corrupt_gzip',
    ],
    ['cut gzip', gzipSync(lines(0, 50)).subarray(0, 40), {}, 'corrupt_gzip'],
    ['no gzip', lines(0, 1), { compression: 'gzip' }, 'not_gzip'],
    ['cut JSON', '[{"a":1},{"a"', { format: 'json' }, 'incomplete_json'],
    ['a web page', '<html></html>', { format: 'json' }, 'invalid_json'],
  ])('%s', async (_name, body, changes, reason) => {
    bucket.put('bad', body, OLD);
    bucket.put('good', 'compression' in changes ? gzipSync(lines(7, 1)) : lines(7, 1), OLD + 1_000);
    const { numbers, refused, codes, cursor } = await read(quick(changes));
    expect(numbers.filter((n) => n !== undefined)).toEqual([7]);
    expect(refused).toEqual([`object_skipped: ${reason}`]);
    expect(codes).toEqual(['object_skipped']);
    expect(bucket.read.filter((key) => key === 'bad').length).toBe(3);
    expect((await read(quick(changes), cursor)).refused).toEqual([]);
  });

  test('a bad line is kept aside, the others of its object go on', async () => {
    bucket.put('a', `${lines(0, 2)}not json\n${lines(2, 1)}`, OLD);
    const { numbers, refused, codes } = await read(quick({}));
    expect([numbers, refused, codes]).toEqual([[0, 1, 2], ['invalid_json'], []]);
  });

  test('one in an archive is skipped at once', async () => {
    bucket.put('cold', lines(9, 1), OLD);
    bucket.put('warm', lines(0, 1), OLD);
    bucket.intercept = ({ key }) => (key === 'cold' ? problem(403, 'InvalidObjectState') : undefined);
    expect(await read(quick({}))).toMatchObject({ numbers: [0], refused: ['object_skipped: archived'] });
  });

  test('one that is denied while others are not is tried three times, then skipped; the others do not wait', async () => {
    bucket.put('a-closed', lines(9, 1), OLD);
    bucket.put('b-open', lines(0, 1), OLD + 1_000);
    bucket.intercept = ({ key }) => (key === 'a-closed' ? problem(403, 'AccessDenied') : undefined);
    const input = quick({});
    const first = await read(input);
    expect([first.numbers, first.refused]).toEqual([[0], []]);
    const second = await read(input, first.cursor);
    const third = await read(input, second.cursor);
    expect([...second.refused, ...third.refused]).toEqual(['object_skipped: denied']);
    expect((await read(input, third.cursor)).refused).toEqual([]);
    expect(bucket.read.filter((key) => key === 'b-open').length).toBe(1);
  });

  test('a wrong path to the records is told', async () => {
    bucket.put('a', '{"Records":[{"n":0}]}', OLD);
    expect((await read(quick({ format: 'json', record_location: 'records' }))).codes).toEqual(['no_records']);
    expect((await read(quick({ format: 'json', record_location: 'Records' }))).numbers).toEqual([0]);
  });
});

const failure = (input: PageInput): Promise<unknown> =>
  read(input).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('what the storage refuses', () => {
  test.each([
    ['SlowDown', problem(503, 'SlowDown'), { code: 'rate_limited', kind: 'throttled' }],
    ['Retry-After', { status: 503, headers: { 'retry-after': '7' } }, { kind: 'throttled', afterMs: 7_000 }],
    ['429', { status: 429, headers: { 'retry-after': '2' } }, { kind: 'throttled', afterMs: 2_000 }],
    ['InternalError', problem(500, 'InternalError'), { code: 'upstream_error', kind: 'retry' }],
    ['AccessDenied', problem(403, 'AccessDenied'), { code: 'forbidden', kind: 'permanent' }],
    [
      'another region',
      { status: 301, body: '<Error><Code>PermanentRedirect</Code></Error>' },
      { kind: 'permanent', message: expect.stringContaining('region') },
    ],
    ['no bucket', problem(404, 'NoSuchBucket'), { code: 'not_found', kind: 'permanent' }],
    ['a web page', { body: '<html></html>' }, { code: 'unexpected_answer', kind: 'retry' }],
  ])('%s', async (_name, answer, expected) => {
    bucket.put('a', lines(0, 1), OLD);
    bucket.intercept = () => answer;
    expect(await failure(open())).toMatchObject({ name: 'EndError', ...expected });
    bucket.intercept = ({ key }) => (key === 'a' ? answer : undefined);
    if (answer.status !== undefined && answer.status !== 404)
      expect(await failure(open())).toMatchObject({ name: 'EndError', ...expected });
  });

  test('a closed network is permanent, and nothing is dialled', async () => {
    const input = openInput({ endpoint: bucket.origin }, BUCKET_KEYS, undefined, []);
    const before = bucket.connections();
    expect(await failure(input)).toMatchObject({ code: 'egress_refused', kind: 'permanent' });
    expect(bucket.connections()).toBe(before);
  });

  test.each([
    [{ bucket: '' }, {}],
    [{ region: 'eu west' }, {}],
    [{ endpoint: 'no address' }, {}],
    [{ format: 'xml' }, {}],
    [{ compression: 'zstd' }, {}],
    [{ partition_format: 'weekly' }, {}],
    [{ backfill_start_time: 'yesterday' }, {}],
    [{}, { access_key: '' }],
    [{}, { secret_key: '' }],
  ])('settings %j, secrets %j make no input', (changes, secrets) => {
    expect(() => open(changes, { ...BUCKET_KEYS, ...secrets })).toThrow(
      expect.objectContaining({ name: 'EndError', code: 'invalid_config', kind: 'permanent' }),
    );
  });

  test.each([200, 301, 400, 403, 404, 412, 500, 503])(
    'an answer of %i that echoes what was sent leaks none of it',
    async (status) => {
      bucket.put('a', lines(0, 1), OLD);
      for (const whole of [true, false]) {
        bucket.intercept = ({ key, headers, query }) =>
          whole || key === 'a'
            ? {
                status,
                body: `<Error><Code>${JSON.stringify(headers)} ${query}</Code><Message>${BUCKET_KEYS.secret_key} ${JSON.stringify(headers)}</Message></Error>`,
              }
            : undefined;
        const error = await failure(open());
        const said = error instanceof Error ? inspect(error, { depth: 5 }) : '';
        for (const secret of Object.values(BUCKET_KEYS)) expect(said).not.toContain(secret);
        expect(said).not.toContain('Signature');
      }
    },
  );
});
