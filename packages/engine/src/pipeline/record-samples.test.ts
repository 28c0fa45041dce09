import { expect, onTestFinished, test } from 'vitest';
import { RecordSamples, type RecordSample } from './record-samples.js';

function openReader(samples: RecordSamples, nodeId = 'a') {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const reader = samples.follow(nodeId, leaving.signal);
  /** Starts the reader: a generator runs up to its first wait. */
  const first = reader.next();
  let pending: Promise<IteratorResult<RecordSample, void>> | undefined = first;
  return {
    async take(count: number): Promise<RecordSample[]> {
      const taken: RecordSample[] = [];
      while (taken.length < count) {
        const { value } = await (pending ?? reader.next());
        pending = undefined;
        if (value) taken.push(value);
      }
      return taken;
    },
    leave: async () => {
      leaving.abort();
      await (pending ?? reader.next());
    },
  };
}

test('shows what passes the node from now on, and nothing of other nodes', async () => {
  let now = 1_000;
  const samples = new RecordSamples(() => now);
  samples.offer('a', ['{"n":0}']);
  const reader = openReader(samples);
  samples.offer('b', ['{"n":1}']);
  samples.offer('a', ['{"n":2}']);
  now = 1_500;
  samples.offer('a', ['{"n":"ü"}']);
  expect(await reader.take(2)).toEqual([
    { at: 1_000, line: '{"n":2}', bytes: 7, skipped: 0 },
    { at: 1_500, line: '{"n":"ü"}', bytes: 10, skipped: 0 },
  ]);
});

test('counts what a reader did not see: over its rate, too slow, too large', async () => {
  let now = 1_000;
  const samples = new RecordSamples(() => now);
  const reader = openReader(samples);
  samples.offer(
    'a',
    Array.from({ length: 120 }, (_, n) => `{"n":${n}}`),
  );
  now += 1_000;
  samples.offer('a', ['{"late":true}', JSON.stringify('x'.repeat(65_536))]);
  const seen = await reader.take(52);
  expect(seen[49]).toMatchObject({ line: '{"n":49}', skipped: 0 });
  expect(seen[50]).toMatchObject({ line: '{"late":true}', skipped: 70 });
  expect(seen[51]).toEqual({ at: 2_000, bytes: 65_538, skipped: 0 });

  for (let second = 0; second < 60; second += 1) {
    now += 1_000;
    samples.offer('a', [JSON.stringify('y'.repeat(60_000))]);
  }
  // 1 MiB waits at most, whatever the reader does.
  const waiting = await reader.take(18);
  expect(waiting.every(({ skipped }) => skipped === 0)).toBe(true);
  samples.offer('a', ['{}']);
  expect(await reader.take(1)).toEqual([{ at: now, line: '{}', bytes: 2, skipped: 42 }]);
});

test('each reader has its own rate; a clock that is set back does not stop it', async () => {
  let now = 100_000;
  const samples = new RecordSamples(() => now);
  const [first, second] = [openReader(samples), openReader(samples)];
  samples.offer(
    'a',
    Array.from({ length: 60 }, () => '{}'),
  );
  expect(await first.take(50)).toHaveLength(50);
  now = 5_000;
  samples.offer('a', ['{"n":1}']);
  expect((await first.take(1))[0]).toMatchObject({ at: 5_000, skipped: 10 });
  expect((await second.take(51)).at(-1)).toMatchObject({ at: 5_000, skipped: 10 });
});

test('keeps nothing once the last reader has left', async () => {
  const samples = new RecordSamples(() => 0);
  const reader = openReader(samples);
  expect(samples.readers).toBe(1);
  await reader.leave();
  expect(samples.readers).toBe(0);
});
