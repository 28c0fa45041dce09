import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { lines, never, OLD, openBucketToRead, read, upTo } from '../../../../test/support/s3-reading.js';
import type { Page } from '@connector-frame/engine/connector-api';

const { bucket, open } = await openBucketToRead();

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
    await expect(reading).rejects.toMatchObject({ name: 'ConnectorError', kind: 'retry' });
    expect(pages.flatMap((page) => page.records.map(({ n }) => n))).toEqual([0, 1, 2]);
    bucket.intercept = undefined;
    expect((await read(open(), pages.at(-1)?.cursor)).numbers).toEqual(upTo(103).slice(3));
  });
});
