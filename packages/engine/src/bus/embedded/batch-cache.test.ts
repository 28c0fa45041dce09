import { expect, test } from 'vitest';
import { createBatch } from '../../connector-api/batch.js';
import { BatchCache, type CachedBatch } from './batch-cache.js';

/** Creates a batch of ten bytes, as stored. */
const cached = (sequence: number): CachedBatch => ({
  batch: createBatch(`id-${sequence}`, ['{"a":123}']),
  publishedAt: 0,
  segment: 1,
  offset: sequence * 100,
  done: { sequence, segment: 1, offset: sequence * 100 + 100, records: sequence },
});

test('finds a batch by the exact offset of its frame', () => {
  const cache = new BatchCache({ bytes: 0, maxBytes: 100 });
  cache.add(cached(1));
  expect(cache.at(1, 1, 100)?.batch.id).toBe('id-1');
  expect([cache.at(1, 1, 0), cache.at(1, 2, 100), cache.at(2, 1, 100)]).toEqual([undefined, undefined, undefined]);
});

test('caches share one budget and return what they drop to it', () => {
  const budget = { bytes: 0, maxBytes: 35 };
  const [one, other] = [new BatchCache(budget), new BatchCache(budget)];
  for (const sequence of [1, 2]) one.add(cached(sequence));
  for (const sequence of [1, 2]) other.add(cached(sequence));
  expect([budget.bytes, other.at(1, 1, 100)?.batch.id, other.at(2, 1, 200)]).toEqual([30, 'id-1', undefined]);
  one.dropUpTo(1);
  other.add(cached(2));
  expect([budget.bytes, one.at(1, 1, 100), one.at(2, 1, 200)?.batch.id]).toEqual([30, undefined, 'id-2']);
  one.clear();
  other.dropUpTo(2);
  expect(budget.bytes).toBe(0);
});
