import { expect, test } from 'vitest';
import { createBatch } from '../connector-api/batch.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Collector } from '../testing/pipeline-fixture.js';
import { Counters } from '../pipeline/counters.js';
import { DeadLetters } from './dead-letters.js';
import { Batcher } from './batcher.js';
import { Health } from '../pipeline/health.js';

test('a clock that is set back does not make batched records wait longer', async () => {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  const context = {
    clock,
    retryDelay: () => 0,
    counters: new Counters(['out']),
    health: new Health(
      () => clock.now(),
      () => undefined,
      () => undefined,
    ),
    deadLetters: new DeadLetters('nowhere', 1, () => clock.now()),
    log: () => undefined,
    stopping: signal,
    aborted: signal,
  };
  const to = { nodeId: 'out', output: new Collector(), paths: [{ name: '', stages: [] }] };
  const batcher = new Batcher(context, to, { records: 100, bytes: 1_000, waitMs: 1_000 });
  await batcher.add(createBatch('b', ['{}']));
  clock.advance(-86_400_000);
  expect(batcher.dueIn).toBe(1_000);
  clock.advance(400);
  expect(batcher.dueIn).toBe(600);
});
