import { expect, test } from 'vitest';
import { noted } from '../../../../../test/support/output-attempt.js';
import { ConnectorError, type WriteResult } from '@connector-frame/engine/connector-api';
import { createPartWriter, splitBySize, type PartResult } from './split-batch.js';

const all = (count: number): number[][] => [Array.from({ length: count }, (_, n) => n)];
const broken = (): never => {
  throw new ConnectorError('upstream_error', 'The server returned a server error.', 'retry', 5);
};

test('isolates one bad record of 500 in 18 requests and writes the others', async () => {
  let asked = 0;
  const result = await createPartWriter()(noted(500), all(500), (part) => {
    asked += 1;
    return Promise.resolve<PartResult>(part.includes(123) ? { partRejection: 'bad' } : {});
  });
  expect(result).toEqual({ rejected: [{ index: 123, reason: 'bad' }] });
  expect(asked).toBeLessThanOrEqual(19);
});

test('isolates a bad record even if every second request fails', async () => {
  const write = createPartWriter();
  let batch = noted(500);
  let asked = 0;
  const rejected: unknown[] = [];
  for (let tries = 0; tries < 100; tries += 1) {
    const numbers = batch.records.map(({ n }) => Number(n));
    const result = await write(batch, all(batch.lines.length), (part) => {
      asked += 1;
      if (asked % 2 === 0) broken();
      return Promise.resolve<PartResult>(part.some((at) => numbers[at] === 77) ? { partRejection: 'bad' } : {});
    }).catch((): undefined => undefined);
    if (!result) continue;
    rejected.push(...(result.rejected ?? []).map(({ index }) => numbers[index]));
    if (!result.retry) break;
    batch = batch.pick(result.retry.indexes);
  }
  expect(rejected).toEqual([77]);
  expect(asked).toBeLessThan(100);
});

test('throws an error of the first part; later, retries the failed part and all parts after it', async () => {
  const parts = [[0, 1], [2], [3, 4]];
  await expect(createPartWriter()(noted(5), parts, broken)).rejects.toMatchObject({ code: 'upstream_error' });
  const result = await createPartWriter()(noted(5), parts, (part) => (part[0] === 2 ? broken() : Promise.resolve({})));
  expect(result).toEqual<WriteResult>({
    retry: { indexes: [2, 3, 4], reason: 'The server returned a server error', afterMs: 5 },
  });
  const bug = new TypeError('ours');
  await expect(createPartWriter()(noted(5), parts, () => Promise.reject(bug))).rejects.toBe(bug);
});

test('writes the remaining parts after a retryable failure, but not after throttling', async () => {
  const asked: number[][] = [];
  const run = (throttled: boolean): Promise<WriteResult> =>
    createPartWriter()(noted(4), [[0], [1], [2], [3]], (part) => {
      asked.push([...part]);
      const [index = 0] = part;
      return Promise.resolve(index % 2 === 0 ? { retry: { indexes: [index], reason: 'busy', throttled } } : {});
    });
  expect(await run(false)).toMatchObject({ retry: { indexes: [0, 2] } });
  expect(asked).toHaveLength(4);
  expect(await run(true)).toMatchObject({ retry: { indexes: [0, 1, 2, 3], throttled: true } });
  expect(asked).toHaveLength(5);
});

test('limits records and bytes per part; a larger record gets a part of its own', () => {
  expect(splitBySize([1, 1, 1, 1, 1], 2, Infinity)).toEqual([[0, 1], [2, 3], [4]]);
  expect(splitBySize([3, 3, 9, 3, 3, 3], Infinity, 6)).toEqual([[0, 1], [2], [3, 4], [5]]);
  expect(splitBySize([], 2, 2)).toEqual([]);
});
