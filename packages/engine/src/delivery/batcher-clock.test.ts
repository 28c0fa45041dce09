import { expect, test } from 'vitest';
import { createBatch } from '../connector-api/batch.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Collector, graph } from '../testing/pipeline-fixture.js';
import { createRunContext } from '../testing/run-context.js';
import { Batcher } from './batcher.js';

test('a clock that is set back does not make batched records wait longer', async () => {
  const clock = new ManualClock();
  const context = createRunContext({ definition: graph('in out', 'in>out'), clock, folder: 'nowhere' });
  const to = { nodeId: 'out', output: new Collector(), paths: [{ name: '', stages: [] }] };
  const batcher = new Batcher(context, to, { records: 100, bytes: 1_000, waitMs: 1_000 });
  await batcher.add(createBatch('b', ['{}']));
  clock.advance(-86_400_000);
  expect(batcher.dueIn).toBe(1_000);
  clock.advance(400);
  expect(batcher.dueIn).toBe(600);
});
