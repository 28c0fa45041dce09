import { expect, test } from 'vitest';
import { createBatch } from '../records/batch.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Collector } from '../testing/pipeline-fixture.js';
import { Counters } from './counters.js';
import { DeadLetters } from './dead-letters.js';
import { Gather } from './gather.js';
import { Health } from './health.js';

test('a clock that is set back does not make what was gathered wait for as long', async () => {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  const work = {
    clock,
    backoff: () => 0,
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
  const to = { nodeId: 'out', output: new Collector(), ways: [{ name: '', steps: [] }] };
  const gather = new Gather(work, to, { records: 100, bytes: 1_000, waitMs: 1_000 });
  await gather.add(createBatch('b', ['{}']));
  clock.advance(-86_400_000);
  expect(gather.dueIn).toBe(1_000);
  clock.advance(400);
  expect(gather.dueIn).toBe(600);
});
