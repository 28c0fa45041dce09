import { expect, test } from 'vitest';
import { createBatch } from '../connector-api/batch.js';
import { Collector, graph, numbersUpTo } from '../testing/pipeline-fixture.js';
import { createRunContext } from '../testing/run-context.js';
import { OutputWriter } from './output-writer.js';
import { compilePaths } from './paths.js';

/** Each reading is later than the one before, as on a busy machine. Sleeps end when the test says so. */
class TickingClock {
  time = 0;
  ticks = false;
  readonly sleeping: { ms: number; end: () => void }[] = [];

  now(): number {
    if (this.ticks) this.time += 1;
    return this.time;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((end) => this.sleeping.push({ ms, end }));
  }
}

test('records become due although the timer ends a millisecond early and the clock moves on', async () => {
  const clock = new TickingClock();
  const definition = graph('in out', 'in>out');
  const output = Object.assign(new Collector(), { batching: { records: 500, bytes: 1e6, waitMs: 1_000 } });
  const context = createRunContext({ definition, clock, folder: '/nonexistent' });
  const writer = new OutputWriter(context, {
    nodeId: 'out',
    output,
    paths: compilePaths(definition, new Map()).get('out') ?? [],
  });
  await writer.add(createBatch('a', ['{"n":0}']), () => undefined);
  await expect.poll(() => clock.sleeping).toMatchObject([{ ms: 1_000 }]);
  clock.time = 998;
  clock.ticks = true;
  // Until it is written, another timer must be running.
  for (let timer = 0; output.batches.length === 0 && timer < 10; timer += 1) {
    await expect.poll(() => clock.sleeping.length > timer || output.batches.length > 0).toBe(true);
    clock.sleeping[timer]?.end();
    await Promise.resolve();
  }
  await expect.poll(() => output.numbers).toEqual(numbersUpTo(1));
  await writer.close();
});
