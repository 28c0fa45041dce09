import { expect, test } from 'vitest';
import { ConnectorError, type WriteResult } from '@connector-frame/engine/connector-api';
import { splitBySize, writeParts, type PartResult } from './split-batch.js';

const broken = (): never => {
  throw new ConnectorError('upstream_error', 'The server returned a server error.', 'retry', 5);
};

test('returns a refused part as a whole, with the record that the server names, and writes the others', async () => {
  const result = await writeParts([[0, 1], [2, 3], [4], [5, 6]], (part) =>
    Promise.resolve<PartResult>(
      part[0] === 0 ? { partRejection: 'bad' } : part[0] === 2 ? { partRejection: 'bad', at: 1 } : {},
    ),
  );
  expect(result).toEqual({
    refused: [
      { indexes: [0, 1], reason: 'bad' },
      { indexes: [2, 3], reason: 'bad', at: 3 },
    ],
  });
});

test('stops after ten refused parts in a row, and returns the others as not sent', async () => {
  let asked = 0;
  const parts = Array.from({ length: 500 }, (_, n) => [n]);
  const refuse = async (): Promise<PartResult> => {
    asked += 1;
    return asked === 5 ? {} : { partRejection: 'bad' };
  };
  const { refused, unsent } = await writeParts(parts, refuse);
  expect([asked, refused?.length, unsent?.length, unsent?.[0]]).toEqual([15, 14, 485, 15]);
});

test('throws an error of the first part; later, retries the failed part and all parts after it', async () => {
  const parts = [[0, 1], [2], [3, 4]];
  await expect(writeParts(parts, broken)).rejects.toMatchObject({ code: 'upstream_error' });
  const result = await writeParts(parts, (part) => (part[0] === 2 ? broken() : Promise.resolve({})));
  expect(result).toEqual<WriteResult>({
    retry: { indexes: [2, 3, 4], reason: 'The server returned a server error', afterMs: 5 },
  });
  const bug = new TypeError('ours');
  await expect(writeParts(parts, () => Promise.reject(bug))).rejects.toBe(bug);
});

test('writes the remaining parts after a retryable failure, but not after throttling', async () => {
  const asked: number[][] = [];
  const run = (throttled: boolean): Promise<WriteResult> =>
    writeParts([[0], [1], [2], [3]], (part) => {
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
