import { describe, expect, test } from 'vitest';
import { BUCKET_KEYS, problem } from '../../../../test/support/fake-bucket.js';
import { lines, OLD, openBucketToRead, read, upTo } from '../../../../test/support/s3-reading.js';
import { ManualClock } from '@connector-frame/engine/testing';
import { openInput } from '../../../../test/support/s3-connectors.js';

const { bucket, open } = await openBucketToRead();

describe('listing', () => {
  test('reads objects in order of their timestamps, each once', async () => {
    bucket.put('z', lines(0, 2), OLD);
    bucket.put('b', lines(2, 2), OLD + 1_000);
    bucket.put('a', lines(6, 2), OLD + 2_000);
    bucket.put('c', lines(4, 2), OLD + 1_000);
    const first = await read(open());
    expect(first.numbers).toEqual(upTo(8));
    expect((await read(open(), first.cursor)).numbers).toEqual([]);
    // Keys that sort before all others, one with a timestamp older than the last listing.
    bucket.put('0', lines(8, 1), Date.now() - 1_000_000);
    bucket.put('00', lines(9, 1));
    expect((await read(open(), first.cursor)).numbers).toEqual([8, 9]);
  });

  test('reads only new objects if no start is set', async () => {
    bucket.put('old', lines(100, 1), Date.now() - 60_000);
    const first = await read(open({ backfill_start_time: undefined }));
    expect(first.numbers).toEqual([]);
    expect(first.cursor).toBeDefined();
    bucket.put('new', lines(0, 1));
    expect((await read(open({ backfill_start_time: undefined }), first.cursor)).numbers).toEqual([0]);
  });

  test('reads an object whose timestamp is older than others already read', async () => {
    const now = Date.now();
    bucket.put('b', lines(0, 1), now);
    const first = await read(open());
    bucket.put('a', lines(1, 1), now - 50 * 60_000);
    const second = await read(open(), first.cursor);
    expect(second.numbers).toEqual([1]);
    expect((await read(open(), second.cursor)).numbers).toEqual([]);
  });

  test('reads thousands of objects with one timestamp across pages', async () => {
    for (let n = 0; n < 2_500; n += 1) bucket.put(`logs/${String(n).padStart(5, '0')}`, lines(n, 1), OLD);
    bucket.put('elsewhere', lines(9_999, 1), OLD);
    const { numbers, pages } = await read(open({ prefix: 'logs/' }));
    expect(numbers).toEqual(upTo(2_500));
    expect(Math.max(...pages.map((page) => page.records.length))).toBe(1_000);
    expect(bucket.requests.filter(({ key }) => key === '').length).toBe(3);
  });

  test('reads keys with any character', async () => {
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

  test('skips a key that would lead out of the bucket, without a request', async () => {
    bucket.put('../other/secrets.json', lines(8, 1), OLD);
    bucket.put('a/./b', lines(9, 1), OLD);
    bucket.put('fine', lines(0, 1), OLD);
    const { numbers, rejected } = await read(open());
    expect(numbers).toEqual([0]);
    expect(rejected).toEqual(['object_skipped: unaddressable', 'object_skipped: unaddressable']);
    expect(bucket.requests.map(({ key }) => key)).toEqual(['', 'fine']);
  });

  test('ignores folder markers, empty objects and deleted objects', async () => {
    bucket.put('folder/', '', OLD);
    bucket.put('empty', '', OLD);
    bucket.put('gone', lines(9, 1), OLD);
    bucket.put('here', lines(0, 1), OLD);
    bucket.intercept = ({ key }) => (key === 'gone' ? problem(404, 'NoSuchKey') : undefined);
    const { numbers, rejected, codes } = await read(open());
    expect([numbers, rejected, codes]).toEqual([[0], [], []]);
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

  test('lists only the last day folders between full listings, which find late objects', async () => {
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
    // A key outside the day folders: every listing is a full one from now on.
    bucket.put('p/123/2026/11/12/a', lines(2, 1));
    clock.advance(3_600_000);
    ({ cursor } = await read(input, third.cursor));
    bucket.put('p/123/2026/11/12/b', lines(3, 1));
    expect((await read(input, cursor)).numbers).toEqual([3]);
  });
});
