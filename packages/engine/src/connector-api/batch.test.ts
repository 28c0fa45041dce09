import { expect, test } from 'vitest';
import { batchId, createBatch, MAX_BATCH_BYTES } from './batch.js';
import { seededRandom } from '../testing/random.js';
import { splitLines } from '../records/split.js';

const source = { pipelineId: 'p', nodeId: 'in', position: '0' };
const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => JSON.stringify({ n }));

test('splits a page at 500 records, in order and completely', () => {
  const { batches, tooLarge } = splitLines(source, numbered(1201));
  expect(batches.map((batch) => batch.lines.length)).toEqual([500, 500, 201]);
  expect(batches.flatMap((batch) => batch.records.map((record) => record['n']))).toEqual(
    Array.from({ length: 1201 }, (_, n) => n),
  );
  expect(tooLarge).toEqual([]);
});

test('splits a page at 512 KiB, counted in UTF-8', () => {
  const line = JSON.stringify({ text: 'ü'.repeat(100_000) });
  const { batches } = splitLines(source, [line, line, line, line]);
  expect(batches.map((batch) => batch.lines.length)).toEqual([2, 2]);
  for (const batch of batches) {
    expect(batch.bytes).toBeLessThanOrEqual(MAX_BATCH_BYTES);
    expect(batch.bytes).toBe(Buffer.byteLength(batch.lines.join('')));
  }
});

test('reports a record larger than a batch and keeps the others', () => {
  const big = JSON.stringify({ text: 'x'.repeat(MAX_BATCH_BYTES) });
  const { batches, tooLarge } = splitLines(source, ['{"a":1}', big, '{"a":2}']);
  expect(tooLarge).toEqual([1]);
  expect(batches.flatMap((batch) => batch.lines)).toEqual(['{"a":1}', '{"a":2}']);
});

test('random pages: limits hold, every record arrives once, a second read has the same ids', () => {
  const random = seededRandom(1);
  const limits = { records: 7, bytes: 400 };
  for (let round = 0; round < 300; round += 1) {
    const lines = Array.from({ length: Math.floor(random() * 60) }, (_, n) =>
      JSON.stringify({ n, text: 'é'.repeat(Math.floor(random() ** 3 * 250)) }),
    );
    const first = splitLines(source, lines, limits);
    const ids = first.batches.map((batch) => batch.id);
    expect(splitLines(source, lines, limits).batches.map((batch) => batch.id)).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    for (const batch of first.batches) {
      expect(batch.lines.length).toBeLessThanOrEqual(limits.records);
      expect(batch.bytes).toBeLessThanOrEqual(limits.bytes);
    }
    const kept = lines.filter((_, index) => !first.tooLarge.includes(index));
    expect(first.batches.flatMap((batch) => batch.lines)).toEqual(kept);
  }
});

const id = (changed: Partial<typeof source>, line = '{"a":1}'): string | undefined =>
  splitLines({ ...source, ...changed }, [line]).batches[0]?.id;

test('ids differ by pipeline, node, position and text', () => {
  const ids = [
    id({}),
    id({ pipelineId: 'q' }),
    id({ nodeId: 'other' }),
    id({ position: '1' }),
    id({}, '{"a":2}'),
    id({ pipelineId: 'pi', nodeId: 'n' }),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  expect(batchId('ab', 'c')).not.toBe(batchId('a', 'bc'));
});

test('a part of a batch has a different id; its records keep theirs', () => {
  const batch = createBatch('b', numbered(5));
  const part = batch.pick([1, 3, 4]);
  expect(part.id).not.toBe(batch.id);
  expect(part.recordId(1)).toBe(batch.recordId(3));
  expect(part.pick([2]).recordId(0)).toBe(batch.recordId(4));
  expect(part.pick([2]).id).toBe(batch.pick([4]).id);
  expect(part.rewrite(['{}', '{}', '{}']).recordId(0)).toBe(batch.recordId(1));
  expect(batch.pick([0, 1, 2, 3, 4])).toBe(batch);
});
