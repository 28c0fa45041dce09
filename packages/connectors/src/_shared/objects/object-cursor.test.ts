import { expect, test } from 'vitest';
import type { Listed } from './store.js';
import { OVERLAP_MS, ObjectCursor } from './object-cursor.js';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);
const object = (n: number, time: number): Listed => ({
  key: `k${String(n).padStart(6, '0')}`,
  etag: `e${n}`,
  time,
  size: 1,
});
const reopened = (progress: ObjectCursor): ObjectCursor => {
  const read = ObjectCursor.read(JSON.parse(JSON.stringify(progress.toJson())));
  if (!read) throw new Error('no cursor');
  return read;
};

/** Processes objects in order, as the input does, and returns the length of the largest cursor. */
function readAll(progress: ObjectCursor, objects: readonly Listed[], fullListingAt: number): number {
  let largest = 0;
  for (const [index, each] of objects.entries()) {
    expect(progress.isDone(each)).toBe(false);
    progress.finish(each, objects[index + 1], fullListingAt);
    if (index % 500 === 0 || index > objects.length - 3)
      largest = Math.max(largest, JSON.stringify(progress.toJson()).length);
  }
  return largest;
}

test('keeps a small cursor for years of objects, and reads none twice', () => {
  const objects = Array.from({ length: 30_000 }, (_, n) => object(n, START + n * 60_000));
  const progress = ObjectCursor.from(0);
  const now = START + 30_000 * 60_000;
  expect(readAll(progress, objects, now)).toBeLessThan(5_000);
  progress.completeListing(now);
  const again = reopened(progress);
  expect(objects.filter((each) => !again.isDone(each))).toEqual([]);
  expect(again.isDone(object(99_999, now - HOUR / 2))).toBe(false);
});

test.each([
  ['spread over the last minutes', (n: number) => START + n * 20],
  ['all at one time', () => START],
  ['in two heaps', (n: number) => START + (n < 12_000 ? 0 : 1_000)],
])('bounds the cursor for more objects than it remembers, %s, without loss or duplicates', (_name, timeOf) => {
  const objects = Array.from({ length: 25_000 }, (_, n) => object(n, timeOf(n)));
  const progress = ObjectCursor.from(0);
  expect(readAll(progress, objects, START + HOUR)).toBeLessThan(400_000);
  const again = reopened(progress);
  expect(objects.filter((each) => !again.isDone(each))).toEqual([]);
  // After a restart halfway, all remaining objects are still to be read.
  const part = ObjectCursor.from(0);
  for (let n = 0; n < 17_000; n += 1) part.finish(objects[n] ?? object(0, 0), objects[n + 1], START + HOUR);
  const rest = reopened(part);
  expect(objects.filter((each) => !rest.isDone(each)).length).toBe(8_000);
});

test('a pending object keeps the floor from rising', () => {
  const progress = ObjectCursor.from(0);
  const waiting = object(0, START);
  const others = Array.from({ length: 25_000 }, (_, n) => object(n + 1, START + n));
  for (const each of others) progress.finish(each, waiting, START + HOUR);
  expect(progress.isDone(waiting)).toBe(false);
});

test('the same content under the same key is a duplicate', () => {
  const progress = ObjectCursor.from(0);
  progress.finish(object(1, START), undefined, START);
  expect(progress.isDone({ ...object(1, START), time: START + 60_000 })).toBe(true);
  expect(progress.isDone({ ...object(1, START + 60_000), etag: 'other' })).toBe(false);
  // The object is remembered as long as its latest write.
  progress.completeListing(START + OVERLAP_MS + 30_000);
  expect(progress.isDone({ ...object(1, START), time: START + 60_000 })).toBe(true);
});

test('the position in an object belongs to its content', () => {
  const progress = ObjectCursor.from(0);
  progress.setCurrent(object(1, START), 700);
  const again = reopened(progress);
  expect(again.itemsOf(object(1, START))).toBe(700);
  expect(again.itemsOf({ ...object(1, START), etag: 'other' })).toBe(0);
  expect(again.itemsOf(object(2, START))).toBe(0);
});

test.each([undefined, null, 'text', 7, [], {}, { floor: 1 }, { floor: { time: 'x', key: 1 } }])(
  'ignores the cursor %j',
  (saved) => expect(ObjectCursor.read(saved)).toBeUndefined(),
);
