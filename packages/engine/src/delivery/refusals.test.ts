import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { codes, push, status } from '../../../../test/support/pipeline-parts.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Collector, graph, numbered, numbersUpTo, openWorld } from '../testing/pipeline-fixture.js';
import { batchId, createBatch, type Batch } from '../connector-api/batch.js';
import { createEmbeddedBus } from '../bus/embedded/embedded-bus.js';
import { ConnectorError, WRITTEN, type PageInput, type WriteResult } from '../connector-api/index.js';
import { PipelineRunner } from '../control/pipeline-runner.js';
import { createEmbeddedCoordinator } from '../coordinator/embedded-coordinator.js';
import { createMemoryStore } from '../coordinator/memory-store.js';
import { createRunContext } from '../testing/run-context.js';
import { deliver } from './deliver.js';
import type { RunnerLimits } from './runner-options.js';

const all = (batch: Batch): number[] => [...batch.lines.keys()];
const numbersOf = (batch: Batch): number[] => batch.records.map(({ n }) => Number(n));
/** Refuses the whole request, as an HTTP endpoint does with status 400. */
const refuseAll = (batch: Batch): WriteResult => ({ refused: [{ indexes: all(batch), reason: 'It answered 400.' }] });
/** Refuses each record, as a bulk API does. */
const rejectEach = (batch: Batch): WriteResult => ({
  rejected: all(batch).map((index) => ({ index, reason: 'It answered 400.' })),
});

/** An output that refuses whole requests that contain one of these records. */
function collectorRefusing(bad: (n: number) => boolean): Collector & { requests: number } {
  const out = Object.assign(new Collector(), { requests: 0 });
  out.respond = (batch) => {
    out.requests += 1;
    return numbersOf(batch).some(bad) ? refuseAll(batch) : WRITTEN;
  };
  return out;
}

async function start(out: Collector, limits: Partial<RunnerLimits> = {}) {
  const world = await openWorld();
  const parts = { definition: graph('in out', 'in>out'), inputs: { in: push }, outputs: { out }, limits };
  const runner = world.runner(parts);
  await runner.start();
  return { world, runner, parts };
}
const ascending = (values: readonly unknown[]): number[] => values.map(Number).toSorted((a, b) => a - b);
const letterNumbers = async (world: { deadLetters(): Promise<Record<string, unknown>[]> }): Promise<number[]> =>
  ascending((await world.deadLetters()).map(({ record }) => Object(record).n));

test.each([
  ['whole requests', refuseAll],
  ['each record', rejectEach],
])('keeps everything while the destination refuses %s, and delivers it after that', async (_name, refuse) => {
  const out = new Collector();
  let refusing = true;
  let requests = 0;
  out.respond = (batch) => {
    requests += 1;
    return refusing ? refuse(batch) : WRITTEN;
  };
  const { world, runner } = await start(out);
  await runner.sink.append(numbered(2_000));
  await expect.poll(() => requests).toBeGreaterThan(60);
  const state = await runner.state();
  expect(state).toMatchObject({
    status: 'Erroring',
    last_error: { code: 'refused', message: expect.stringContaining('It answered 400') },
    needs_attention: { node_id: 'out', code: 'refused', next_attempt_time: expect.any(String) },
    waiting: 2_000,
    errors: 0,
    dead_letters: { waiting: 0, stored: 0 },
  });
  expect(state.nodes.map((node) => node.failed_attempts > 0)).toEqual([false, true]);
  expect(await world.deadLetters()).toEqual([]);
  refusing = false;
  await expect.poll(() => out.numbers.length).toBe(2_000);
  expect(ascending(out.numbers)).toEqual(numbersUpTo(2_000));
  await expect.poll(() => runner.state()).toMatchObject({ status: 'Running', waiting: 0, needs_attention: null });
  expect(await world.deadLetters()).toEqual([]);
});

test('after it has worked, a destination that refuses everything costs at most a batch of dead letters', async () => {
  const out = new Collector();
  const { world, runner } = await start(out);
  await runner.sink.append(numbered(500));
  await expect.poll(() => out.numbers.length).toBe(500);
  let requests = 0;
  out.respond = (batch) => {
    requests += 1;
    return rejectEach(batch);
  };
  await runner.sink.append(numbered(3_000, 500));
  await expect.poll(() => requests).toBeGreaterThan(60);
  const kept = (await world.deadLetters()).length;
  expect(kept).toBeLessThanOrEqual(510);
  out.respond = () => WRITTEN;
  await expect.poll(() => out.numbers.length).toBe(3_500 - kept);
  expect(ascending([...out.numbers, ...(await letterNumbers(world))])).toEqual(numbersUpTo(3_500));
});

test('isolates one bad record of 500 in at most 20 requests', async () => {
  for (const bad of [0, 123, 499]) {
    const out = collectorRefusing((n) => n === bad);
    const { world, runner } = await start(out);
    await runner.sink.append(numbered(500));
    await expect.poll(() => out.numbers.length).toBe(499);
    await expect.poll(() => letterNumbers(world)).toEqual([bad]);
    expect(out.requests).toBeLessThanOrEqual(20);
    await expect.poll(() => status(runner)).toBe('Running');
  }
});

test('isolates the record that the destination names without splitting', async () => {
  const out = new Collector();
  let requests = 0;
  out.respond = (batch) => {
    requests += 1;
    const at = numbersOf(batch).indexOf(123);
    return at < 0 ? WRITTEN : { refused: [{ indexes: all(batch), reason: 'bad', at }] };
  };
  const { world, runner } = await start(out);
  await runner.sink.append(numbered(500));
  await expect.poll(() => out.numbers.length).toBe(499);
  await expect.poll(() => letterNumbers(world)).toEqual([123]);
  expect(requests).toBe(3);
});

test('bad records at the head of the line do not hold it, one per batch or in one batch', async () => {
  const single = collectorRefusing((n) => n < 8);
  const one = await start(single);
  for (let n = 0; n < 12; n += 1) await one.runner.sink.append(numbered(1, n), { position: String(n) });
  await expect.poll(() => ascending(single.numbers)).toEqual([8, 9, 10, 11]);
  expect(await letterNumbers(one.world)).toEqual(numbersUpTo(8));

  const many = collectorRefusing((n) => n < 300);
  const two = await start(many);
  await two.runner.sink.append(numbered(500));
  await expect.poll(() => many.numbers.length).toBe(200);
  await expect.poll(() => letterNumbers(two.world)).toEqual(numbersUpTo(300));
});

test('a batch of bad records among good ones goes to the dead letters', async () => {
  const out = collectorRefusing((n) => n >= 100 && n < 130);
  const { world, runner } = await start(out);
  await runner.sink.append(numbered(100), { position: 'a' });
  await runner.sink.append(numbered(30, 100), { position: 'b' });
  await runner.sink.append(numbered(100, 130), { position: 'c' });
  await expect.poll(() => out.numbers.length).toBe(200);
  expect(await letterNumbers(world)).toEqual(numbersUpTo(30).map((n) => n + 100));
});

test('batches of bad records before the first good one give way after a while', async () => {
  const out = collectorRefusing((n) => n < 100);
  const { world, runner } = await start(out, { giveWay: 100 });
  for (let n = 0; n < 5; n += 1) await runner.sink.append(numbered(25, n * 25), { position: String(n) });
  await expect.poll(() => ascending(out.numbers)).toEqual(numbersUpTo(25).map((n) => n + 100));
  expect(await letterNumbers(world)).toEqual(numbersUpTo(100));
});

test('several deliveries to one output share what they know about it', async () => {
  const { context, clock, advance } = await directContext();
  const out = new Collector();
  let refusing = true;
  let requests = 0;
  out.respond = (batch) => {
    requests += 1;
    return refusing ? refuseAll(batch) : WRITTEN;
  };
  const batches = Array.from({ length: 8 }, (_, n) => createBatch(batchId('b', String(n)), numbered(50, n * 50)));
  const delivered = Promise.all(batches.map((batch) => deliver(context, 'out', out, batch)));
  const before = clock.now();
  await advance(() => clock.now() - before > 3_600_000);
  // One test record at a time, every 15 seconds on average, in spite of eight deliveries.
  expect(requests).toBeLessThan(500);
  expect(await context.deadLetters.stats()).toEqual({});
  refusing = false;
  await advance(() => out.numbers.length === 400);
  expect(await delivered).toEqual(batches.map(() => true));
  expect(ascending(out.numbers)).toEqual(numbersUpTo(400));
});

test('refused credentials are tried a few times an hour, and at once on request', async () => {
  const { context, clock, advance } = await directContext();
  const out = new Collector();
  let revoked = true;
  const times: number[] = [];
  out.respond = () => {
    times.push(clock.now());
    if (revoked) throw new ConnectorError('invalid_credentials', 'The token was refused.', 'permanent');
    return WRITTEN;
  };
  const batches = Array.from({ length: 4 }, (_, n) => createBatch(batchId('b', String(n)), numbered(50, n * 50)));
  const delivered = Promise.all(batches.map((batch) => deliver(context, 'out', out, batch)));
  const before = clock.now();
  await advance(() => clock.now() - before > 3_600_000);
  await new Promise((resolve) => setImmediate(resolve));
  // Four deliveries were in progress when the first one failed.
  expect(times.length).toBeLessThanOrEqual(4 + 12);
  const { failure, permanent } = context.health.facts['out'] ?? {};
  expect([failure?.code, permanent, (failure?.retryAt ?? 0) > clock.now()]).toEqual([
    'invalid_credentials',
    true,
    true,
  ]);
  revoked = false;
  const count = times.length;
  const at = clock.now();
  expect(context.retries.endAll()).toBe(1);
  await expect.poll(() => times.length).toBeGreaterThan(count);
  expect(await delivered).toEqual([true, true, true, true]);
  expect(clock.now()).toBe(at);
});

test('an input with refused credentials asks its source a few times an hour', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'input-'));
  const clock = new ManualClock();
  let asked = 0;
  let revoked = true;
  const input: PageInput = {
    kind: 'pages',
    async *pages(cursor) {
      asked += 1;
      if (revoked) throw new ConnectorError('invalid_credentials', 'The password was refused.', 'permanent');
      if (cursor === undefined) yield { records: [{ n: 0 }], cursor: 1 };
    },
  };
  const out = new Collector();
  const bus = createEmbeddedBus({ folder: join(folder, 'bus'), onDamage: () => undefined });
  const runner = new PipelineRunner({
    definition: graph('in out', 'in>out'),
    components: { inputs: new Map([['in', input]]), outputs: new Map([['out', out]]), transforms: new Map() },
    bus,
    coordinator: createEmbeddedCoordinator({ store: createMemoryStore(), now: () => clock.now() }),
    holder: 'worker',
    folder: join(folder, 'p'),
    clock,
    // The clock runs faster than the loop that renews the lease.
    limits: { reconcile: 60_000, leaseTtl: 86_400_000 },
  });
  const before = clock.now();
  await runner.start();
  while (clock.now() - before < 3_600_000) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (clock.untilNext !== undefined) clock.advance(clock.untilNext);
  }
  expect(asked).toBeGreaterThan(3);
  expect(asked).toBeLessThanOrEqual(12);
  expect((await runner.state()).needs_attention).toMatchObject({ node_id: 'in', code: 'invalid_credentials' });
  revoked = false;
  expect(runner.retryNow()).toBe(1);
  await expect.poll(() => out.numbers).toEqual([0]);
  // Its grace period is on the same clock.
  const stopped = runner.stop();
  clock.advance(60_000);
  await stopped;
  await bus.close();
  await rm(folder, { recursive: true, force: true });
});

test('retries at once on request, and reports it', async () => {
  const out = new Collector();
  let revoked = true;
  out.respond = () => {
    if (revoked) throw new ConnectorError('forbidden', 'The key may not write here.', 'permanent');
    return WRITTEN;
  };
  const { runner } = await start(out, { retryCap: 60_000 });
  await runner.sink.append(numbered(3));
  await expect.poll(() => status(runner)).toBe('Erroring');
  expect((await runner.state()).needs_attention).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('retry now'),
  });
  revoked = false;
  expect(runner.retryNow()).toBe(1);
  await expect.poll(() => out.numbers).toEqual([0, 1, 2]);
  expect(codes(runner)).toContain('retry_now');
  expect(runner.retryNow()).toBe(0);
});

test('shows the records that wait for a retry, with the error', async () => {
  const out = collectorRefusing(() => true);
  const { runner } = await start(out);
  await runner.sink.append(numbered(20));
  await expect.poll(() => runner.waitingRecords('out', 5)).toHaveLength(5);
  expect(runner.waitingRecords('out', 1)).toEqual([
    {
      line: '{"n":0}',
      since: expect.any(Number),
      failedAt: expect.any(Number),
      retryAt: expect.any(Number),
      attempts: expect.any(Number),
      error: 'refused: It answered 400.',
    },
  ]);
  expect(runner.waitingRecords('in', 5)).toEqual([]);
  await runner.pause();
  expect(runner.waitingRecords('out', 5)).toEqual([]);
});

test('stops the delivery of a node whose dead letters are full, until there is space', async () => {
  const out = collectorRefusing((n) => n % 10 === 0);
  const { world, runner } = await start(out, { deadLetterCount: 5 });
  for (let n = 0; n < 10; n += 1) await runner.sink.append(numbered(10, n * 10), { position: String(n) });
  await expect.poll(async () => (await runner.state()).last_error?.code).toBe('dead_letters_full');
  expect(await runner.state()).toMatchObject({ status: 'Erroring', dead_letters: { waiting: 5, dropped: 0 } });
  expect((await runner.state()).waiting).toBeGreaterThan(0);
  const [first] = await runner.deadLetters.list({ limit: 1 });
  expect(await runner.deadLetters.delete([first?.id ?? ''])).toBe(1);
  await expect.poll(() => out.numbers.length).toBe(54 + 9);
  await runner.deadLetters.purge('out');
  await expect.poll(() => out.numbers.length).toBe(90);
  expect(ascending([...(await letterNumbers(world))]).length).toBeLessThanOrEqual(5);
});

test('deletes the oldest dead letters if configured, and counts and logs it', async () => {
  const out = collectorRefusing((n) => n % 10 === 0);
  const { world, runner } = await start(out, { deadLetterCount: 5, deadLettersFull: 'drop_oldest' });
  for (let n = 0; n < 10; n += 1) await runner.sink.append(numbered(10, n * 10), { position: String(n) });
  await expect.poll(() => out.numbers.length).toBe(90);
  await expect.poll(() => letterNumbers(world)).toEqual([50, 60, 70, 80, 90]);
  expect((await runner.state()).dead_letters).toEqual({ waiting: 5, stored: 10, dropped: 5, replayed: 0 });
  expect(codes(runner)).toContain('dead_letters_dropped');
});

test('redelivers dead letters; one that is refused again returns once', async () => {
  const bad = new Set([1, 2, 3]);
  const out = collectorRefusing((n) => bad.has(n));
  const { world, runner } = await start(out);
  await runner.sink.append(numbered(10));
  await expect.poll(() => letterNumbers(world)).toEqual([1, 2, 3]);
  const ids = out.batches.flatMap((batch) => all(batch).map((index) => batch.recordId(index)));
  bad.delete(1);
  bad.delete(2);
  expect(await runner.deadLetters.replay('out')).toBe(3);
  await expect.poll(() => ascending(out.numbers)).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9]);
  await expect.poll(() => codes(runner)).toContain('dead_letters_replayed');
  const letters = await runner.deadLetters.list({ limit: 10 });
  expect(letters).toMatchObject([{ line: '{"n":3}', replays: 1, isReplaying: false, reason: 'It answered 400.' }]);
  const requests = out.requests;
  expect((await runner.state()).dead_letters).toEqual({ waiting: 1, stored: 3, dropped: 0, replayed: 2 });
  // The record keeps its id, so that the destination can drop duplicates.
  expect(new Set(ids).has(letters[0]?.recordId ?? '')).toBe(false);
  await runner.sink.append(numbered(1, 100));
  await expect.poll(() => out.numbers).toContain(100);
  expect(out.requests).toBe(requests + 1);
});

test('dead letters marked for redelivery are delivered after a restart', async () => {
  const bad = new Set([1]);
  const out = collectorRefusing((n) => bad.has(n));
  const { world, runner, parts } = await start(out);
  await runner.sink.append(numbered(3));
  await expect.poll(() => letterNumbers(world)).toEqual([1]);
  await runner.pause();
  expect(await runner.deadLetters.replay('out')).toBe(1);
  await runner.stop();
  bad.clear();
  const later = world.runner(parts);
  await later.start();
  await later.resume();
  await expect.poll(() => ascending(out.numbers)).toEqual([0, 1, 2]);
  await expect.poll(() => letterNumbers(world)).toEqual([]);
});

test('a redelivery to a destination that still refuses everything neither holds the line nor loses a letter', async () => {
  const out = collectorRefusing((n) => n < 100);
  const { world, runner } = await start(out);
  await runner.sink.append(numbered(300));
  await expect.poll(() => letterNumbers(world)).toEqual(numbersUpTo(100));
  const before = out.requests;
  await runner.deadLetters.replay('out');
  await expect.poll(() => codes(runner)).toContain('dead_letters_replayed');
  expect(out.requests - before).toBeLessThan(40);
  expect(await letterNumbers(world)).toEqual(numbersUpTo(100));
  await runner.sink.append(numbered(1, 300));
  await expect.poll(() => out.numbers).toContain(300);
  expect(await status(runner)).toBe('Running');
});

test('purges the backlog and the dead letters of one output, and counts them in the log', async () => {
  const [out, other] = [collectorRefusing((n) => n < 5), new Collector()];
  const world = await openWorld();
  const definition = graph('in out other', 'in>out in>other');
  const runner = world.runner({ definition, inputs: { in: push }, outputs: { out, other } });
  await runner.start();
  await runner.sink.append(numbered(50));
  await expect.poll(() => letterNumbers(world)).toEqual(numbersUpTo(5));
  out.respond = other.respond = () => {
    throw new ConnectorError('down', 'It is down.');
  };
  await runner.sink.append(numbered(50, 50));
  await expect.poll(async () => (await runner.state()).last_error?.code).toBe('down');
  expect(await runner.purge('out')).toEqual({ records: 50, deadLetters: 5 });
  expect(await letterNumbers(world)).toEqual([]);
  expect(runner.log.entries().find(({ code }) => code === 'purged')).toMatchObject({
    nodeId: 'out',
    message: expect.stringContaining('50 buffered records and 5 dead letters'),
  });
  out.respond = other.respond = () => WRITTEN;
  await expect.poll(() => other.numbers.length).toBe(100);
  await runner.sink.append(numbered(1, 100));
  await expect.poll(() => out.numbers).toContain(100);
  expect(out.numbers).toHaveLength(46);
});

/** A run of one output, on a clock that tests advance. */
async function directContext() {
  const folder = await mkdtemp(join(tmpdir(), 'deliver-'));
  const clock = new ManualClock();
  const [stopping, aborted] = [new AbortController(), new AbortController()];
  onTestFinished(async () => {
    aborted.abort();
    stopping.abort();
    await rm(folder, { recursive: true, force: true });
  });
  const signals = { stopping: stopping.signal, aborted: aborted.signal };
  const context = createRunContext({ definition: graph('in out', 'in>out'), clock, folder, ...signals });
  /** Advances the clock from wait to wait until the condition is true. */
  async function advance(until: () => boolean): Promise<void> {
    while (!until()) {
      await new Promise((resolve) => setImmediate(resolve));
      if (clock.untilNext !== undefined) clock.advance(clock.untilNext);
    }
  }
  return { context, clock, advance };
}
