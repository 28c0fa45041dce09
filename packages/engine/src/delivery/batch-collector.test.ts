import { expect, test } from 'vitest';
import { createBatch, type Batch } from '../connector-api/batch.js';
import type { Batching } from '../connector-api/output.js';
import { numbered } from '../testing/pipeline-fixture.js';
import { ManualClock } from '../testing/manual-clock.js';
import { seededRandom } from '../testing/random.js';
import { BatchCollector, type Source } from './batch-collector.js';

const wide: Batching = { records: 1_000, bytes: 1_000_000, waitMs: 1_000 };
const source = (): Source => ({ id: 'in', open: 0, finish: () => undefined });

function collect(batching?: Partial<Batching>) {
  const clock = new ManualClock();
  const collector = new BatchCollector({ nodeId: 'out', batching: batching && { ...wide, ...batching }, clock });
  const add = (batch: Batch, at?: number): void => collector.add(batch, source(), at);
  /** Takes everything, whether it is due or not. */
  const all = (): Batch[] => {
    const batches: Batch[] = [];
    for (let next = collector.take(); next; next = collector.take()) batches.push(next.batch);
    return batches;
  };
  return { clock, collector, add, all };
}

/** Stored batches of different sizes with the records `{ n }` from 0 on. */
function stored(...sizes: number[]): Batch[] {
  let from = 0;
  return sizes.map((size, index) => {
    const batch = createBatch(`b${index}`, numbered(size, from));
    from += size;
    return batch;
  });
}
const numbersIn = (batches: readonly Batch[]) => batches.flatMap(({ records }) => records.map(({ n }) => n));
const idsIn = (batches: readonly Batch[]) =>
  batches.flatMap((batch) => batch.lines.map((_line, index) => batch.recordId(index)));

test('joins and splits stored batches at the record limit and keeps the ids of the records', () => {
  const { add, all } = collect({ records: 5 });
  const batches = stored(3, 1, 7, 2);
  for (const batch of batches) add(batch);
  const joined = all();
  expect(joined.map(({ lines }) => lines.length)).toEqual([5, 5, 3]);
  expect(numbersIn(joined)).toEqual(numbersIn(batches));
  expect(idsIn(joined)).toEqual(idsIn(batches));
  expect(joined.map(({ bytes }) => bytes)).toEqual(
    joined.map(({ lines }) => lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0)),
  );
});

test('never exceeds the limits, except for a single record over the byte limit', () => {
  const random = seededRandom(7);
  for (let round = 0; round < 50; round += 1) {
    const limits = { records: 1 + Math.floor(random() * 20), bytes: 20 + Math.floor(random() * 200) };
    const { add, all } = collect(limits);
    const batches = Array.from({ length: 20 }, (_, index) => {
      const lines = Array.from({ length: Math.floor(random() * 12) }, () => `{"t":"${'ü'.repeat(random() * 60)}"}`);
      return createBatch(`b${index}`, lines);
    });
    for (const batch of batches) add(batch);
    const joined = all();
    expect(idsIn(joined)).toEqual(idsIn(batches));
    for (const { lines, bytes } of joined) {
      expect(lines.length).toBeLessThanOrEqual(limits.records);
      if (lines.length > 1) expect(bytes + lines.length).toBeLessThanOrEqual(limits.bytes);
    }
  }
});

test('gives a batch the same id for the same records, and another one for more records', () => {
  const [first, again, more, parts] = [1, 2, 3, 4].map(() => collect({ records: 6 }));
  const batches = stored(2, 2, 3);
  for (const each of [first, again]) for (const batch of batches.slice(0, 2)) each?.add(batch);
  for (const batch of batches) more?.add(batch);
  parts?.add(stored(8)[0] ?? createBatch('b', []));
  const id = first?.all()[0]?.id;
  expect(again?.all()[0]?.id).toBe(id);
  expect(more?.all()[0]?.id).not.toBe(id);
  expect(new Set(parts?.all().map((batch) => batch.id)).size).toBe(2);
});

test('a batch that replaces what was written has the id and time of its first record and is not split', () => {
  const limits = { records: 6, replaces: true } as const;
  const [first, more] = [collect(limits), collect(limits)];
  const batches = stored(4, 4, 4);
  first.add(batches[0] ?? createBatch('b', []), 1_000);
  for (const batch of batches) more.add(batch, 1_000);
  const [one] = first.all();
  const joined = more.all();
  expect(joined.map(({ lines }) => lines.length)).toEqual([8, 4]);
  expect(joined[0]).toMatchObject({ id: one?.id, at: 1_000 });
});

test('without batching, each stored batch is due at once and keeps its id', () => {
  const { collector, add, all } = collect();
  const batches = stored(3, 4);
  for (const batch of batches) add(batch);
  expect(collector.dueIn()).toBe(0);
  expect(all().map(({ id }) => id)).toEqual(['b0', 'b1']);
});

test('is due when a limit is reached, and otherwise a wait after the first record', () => {
  const { clock, collector, add } = collect({ records: 3 });
  expect(collector.dueIn()).toBeUndefined();
  const [one, two] = stored(2, 1);
  add(one ?? createBatch('b', []));
  clock.advance(400);
  expect(collector.dueIn()).toBe(600);
  add(two ?? createBatch('b', []));
  expect(collector.dueIn()).toBe(0);
});

test('a record after a pause is due at once, and later ones a wait after that write', () => {
  const { clock, collector, add } = collect({ waitFrom: 'write' });
  for (const [index, wait] of [0, 1_000 - 250, 0].entries()) {
    add(createBatch(`b${index}`, ['{}']));
    expect(collector.dueIn()).toBe(wait);
    clock.advance(wait);
    collector.take();
    clock.advance(index === 0 ? 250 : 5_000);
  }
});

test.each(['record', 'write'] as const)(
  'a clock that is set back does not make collected records wait longer: waits from the %s',
  (waitFrom) => {
    const { clock, collector, add } = collect({ waitFrom });
    add(createBatch('a', ['{}']));
    collector.take();
    add(createBatch('b', ['{}']));
    clock.advance(-86_400_000);
    expect(collector.dueIn()).toBe(1_000);
    clock.advance(400);
    expect(collector.dueIn()).toBe(600);
  },
);
