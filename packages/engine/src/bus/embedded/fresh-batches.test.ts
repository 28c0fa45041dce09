import { expect, test } from 'vitest';
import { createBatch } from '../../connector-api/batch.js';
import { BatchCache, type CachedBatch } from './fresh-batches.js';

/** Creates a batch of ten bytes, as stored. */
const fresh = (sequence: number): CachedBatch => ({
  batch: createBatch(`id-${sequence}`, ['{"a":123}']),
  publishedAt: 0,
  segment: 1,
  offset: sequence * 100,
  done: { sequence, segment: 1, offset: sequence * 100 + 100, records: sequence },
});

test('a batch is found where its frame begins, and nowhere else', () => {
  const newest = new BatchCache({ bytes: 0, maxBytes: 100 });
  newest.add(fresh(1));
  expect(newest.at(1, 1, 100)?.batch.id).toBe('id-1');
  expect([newest.at(1, 1, 0), newest.at(1, 2, 100), newest.at(2, 1, 100)]).toEqual([undefined, undefined, undefined]);
});

test('all streams together keep no more than there is room for, and give it back', () => {
  const room = { bytes: 0, maxBytes: 35 };
  const [one, other] = [new BatchCache(room), new BatchCache(room)];
  for (const sequence of [1, 2]) one.add(fresh(sequence));
  for (const sequence of [1, 2]) other.add(fresh(sequence));
  expect([room.bytes, other.at(1, 1, 100)?.batch.id, other.at(2, 1, 200)]).toEqual([30, 'id-1', undefined]);
  one.forgetUpTo(1);
  other.add(fresh(2));
  expect([room.bytes, one.at(1, 1, 100), one.at(2, 1, 200)?.batch.id]).toEqual([30, undefined, 'id-2']);
  one.clear();
  other.forgetUpTo(2);
  expect(room.bytes).toBe(0);
});
