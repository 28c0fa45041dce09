import { describe, expect, test } from 'vitest';
import { codes, status } from '../../../../test/support/pipeline-parts.js';
import { ConnectorError, type Output, type PageInput } from '../connector-api/index.js';
import { Collector, deadOutput, graph, numbersUpTo, openWorld } from '../testing/pipeline-fixture.js';

const TWO = graph('in o-healthy o-dead', 'in>o-healthy in>o-dead');
const ONE = graph('in o-dead', 'in>o-dead');
const TEXT = 'x'.repeat(1_000);

/** Creates an input with `count` pages of 10 records each; its cursor is the number of records. */
const pagesOf = (count: number): PageInput => ({
  kind: 'pages',
  intervalMs: 10,
  async *pages(cursor = 0) {
    for (let from = Number(cursor); from < count * 10; from += 10) {
      const records = Array.from({ length: 10 }, (_, index) => ({ n: from + index, text: TEXT }));
      yield { records, cursor: from + 10 };
    }
  },
});

describe('a polled input with an output that does not respond', () => {
  test('delivers all pages to the other output, and to this one when it responds again', async () => {
    const world = await openWorld();
    const [healthy, dead] = [new Collector(), deadOutput()];
    const parts = { definition: TWO, inputs: { in: pagesOf(20) }, outputs: { 'o-healthy': healthy, 'o-dead': dead } };
    let runner = world.runner(parts);
    await runner.start();
    await expect.poll(() => healthy.numbers.length).toBe(200);
    expect(healthy.numbers).toEqual(numbersUpTo(200));
    expect(await runner.state()).toMatchObject({ ingress: { records: 200 }, waiting: 200 });
    await runner.stop();
    runner = world.runner(parts);
    await runner.start();
    dead.recover();
    await expect.poll(() => dead.numbers.length).toBe(200);
    expect(dead.numbers).toEqual(numbersUpTo(200));
    expect(healthy.numbers.length).toBe(200);
    await expect.poll(() => status(runner)).toBe('Running');
  });

  test('starts delivering to the other output before this one has opened', async () => {
    const world = await openWorld();
    const healthy = new Collector();
    const unopened: Output = {
      open: () => Promise.reject(new ConnectorError('down', 'The destination does not respond.')),
      write: () => expect.unreachable(),
    };
    const runner = world.runner({
      definition: TWO,
      inputs: { in: pagesOf(3) },
      outputs: { 'o-healthy': healthy, 'o-dead': unopened },
    });
    await runner.start();
    await expect.poll(() => healthy.numbers.length).toBe(30);
  });

  test('waits when the budget of this output is used up, and continues without loss', async () => {
    const world = await openWorld(100_000);
    const [healthy, dead] = [new Collector(), deadOutput()];
    const runner = world.runner({
      definition: TWO,
      inputs: { in: pagesOf(30) },
      outputs: { 'o-healthy': healthy, 'o-dead': dead },
    });
    await runner.start();
    await expect.poll(() => codes(runner)).toContain('buffer_full');
    expect(healthy.numbers.length).toBeGreaterThan(50);
    expect(healthy.numbers.length).toBeLessThan(100);
    await runner.pause();
    await runner.resume();
    dead.recover();
    await expect.poll(() => healthy.numbers.length).toBe(300);
    await expect.poll(() => dead.numbers.length).toBe(300);
    expect([healthy.numbers, dead.numbers]).toEqual([numbersUpTo(300), numbersUpTo(300)]);
  });

  test('drops pages for this output alone if its edge asks for it', async () => {
    const world = await openWorld(100_000);
    const [healthy, dead] = [new Collector(), deadOutput()];
    const edges = TWO.edges.map((edge) =>
      edge.to_node_instance_id === 'o-dead' ? { ...edge, overflow: { policy: 'drop_newest' as const } } : edge,
    );
    const runner = world.runner({
      definition: { ...TWO, edges },
      inputs: { in: pagesOf(30) },
      outputs: { 'o-healthy': healthy, 'o-dead': dead },
    });
    await runner.start();
    await expect.poll(() => healthy.numbers.length).toBe(300);
    dead.recover();
    await expect.poll(async () => (await runner.state()).waiting).toBe(0);
    expect((await runner.state()).dropped).toBe(300 - dead.numbers.length);
    expect(dead.numbers).toEqual(numbersUpTo(dead.numbers.length));
  });

  test('delivers what is buffered for it after the other output is removed, and later pages directly', async () => {
    const world = await openWorld();
    const [healthy, dead] = [new Collector(), deadOutput()];
    const outputs = { 'o-healthy': healthy, 'o-dead': dead };
    const first = world.runner({ definition: TWO, inputs: { in: pagesOf(5) }, outputs });
    await first.start();
    await expect.poll(() => healthy.numbers.length).toBe(50);
    await first.stop();
    dead.recover();
    const second = world.runner({ definition: ONE, inputs: { in: pagesOf(8) }, outputs });
    await second.start();
    await expect.poll(() => dead.numbers.length).toBe(80);
    await second.stop();
    const third = world.runner({ definition: ONE, inputs: { in: pagesOf(10) }, outputs });
    await third.start();
    await expect.poll(() => dead.numbers.length).toBe(100);
    expect(dead.numbers).toEqual(numbersUpTo(100));
    await expect(world.bus.stats('p.in')).rejects.toMatchObject({ code: 'unknown_stream' });
  });
});

test('a source that returns the same page every time is delivered every time', async () => {
  const world = await openWorld();
  const outputs = { 'o-healthy': new Collector(), 'o-dead': new Collector() };
  const input: PageInput = {
    kind: 'pages',
    intervalMs: 10,
    async *pages() {
      yield { records: [{ n: 1 }], cursor: null };
    },
  };
  const runner = world.runner({ definition: TWO, inputs: { in: input }, outputs });
  await runner.start();
  await expect.poll(() => outputs['o-healthy'].numbers.length).toBeGreaterThan(3);
  await expect.poll(() => outputs['o-dead'].numbers.length).toBeGreaterThan(3);
});

/** Creates an input that is read once an hour, and counts how often. */
const hourly = (page: () => Promise<void> = () => Promise.resolve()) => {
  const input = {
    kind: 'pages' as const,
    intervalMs: 3_600_000,
    reads: 0,
    async *pages() {
      input.reads += 1;
      await page();
      yield { records: [{ n: input.reads }], cursor: input.reads };
    },
  };
  return input;
};

describe('a triggered pipeline', () => {
  test('reads its input now, and once for two triggers during one read', async () => {
    const world = await openWorld();
    const out = new Collector();
    const releases: (() => void)[] = [];
    const input = hourly(() => (input.reads < 2 ? Promise.resolve() : new Promise((done) => releases.push(done))));
    const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: input }, outputs: { out } });
    await runner.start();
    await expect.poll(() => out.numbers).toEqual([1]);
    await expect.poll(() => runner.trigger() && input.reads).toBe(2);
    expect([runner.trigger(), runner.trigger()]).toEqual([true, true]);
    releases[0]?.();
    await expect.poll(() => out.numbers).toEqual([1, 2]);
    expect(input.reads).toBe(2);
  });

  test('tries an input that has failed again', async () => {
    const world = await openWorld();
    const out = new Collector();
    let fails = true;
    const input = hourly(() =>
      fails ? Promise.reject(new ConnectorError('denied', 'No.', 'permanent')) : Promise.resolve(),
    );
    const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: input }, outputs: { out } });
    await runner.start();
    await expect.poll(() => status(runner)).toBe('Erroring');
    fails = false;
    runner.trigger();
    await expect.poll(() => out.batches.length).toBe(1);
  });

  test('tells the input that a read is requested, until that read has succeeded', async () => {
    const world = await openWorld();
    const out = new Collector();
    const requests: (boolean | undefined)[] = [];
    const input: PageInput = {
      kind: 'pages',
      intervalMs: 3_600_000,
      async *pages(_cursor, _signal, isRequested) {
        requests.push(isRequested);
        if (requests.length === 2) throw new ConnectorError('denied', 'No.', 'permanent');
        yield { records: [{ n: requests.length }], cursor: requests.length };
      },
    };
    const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: input }, outputs: { out } });
    await runner.start();
    await expect.poll(() => out.numbers).toEqual([1]);
    await expect.poll(() => runner.trigger() && status(runner)).toBe('Erroring');
    await expect.poll(() => runner.trigger() && out.numbers).toContain(3);
    expect(requests.slice(0, 3)).toEqual([false, true, true]);
  });

  test('tells the input that a person retries, and not when the wait has ended by itself', async () => {
    const world = await openWorld();
    const requests: (boolean | undefined)[] = [];
    const input: PageInput = {
      kind: 'pages',
      // oxlint-disable-next-line require-yield -- it only fails
      async *pages(_cursor, _signal, isRequested) {
        requests.push(isRequested);
        throw new ConnectorError('down', 'No.', requests.length < 3 ? 'retry' : 'permanent');
      },
    };
    const runner = world.runner({
      definition: graph('in out', 'in>out'),
      inputs: { in: input },
      outputs: { out: new Collector() },
    });
    await runner.start();
    await expect.poll(() => requests).toHaveLength(3);
    await expect.poll(() => runner.retryNow()).toBe(1);
    await expect.poll(() => requests).toEqual([false, false, false, true]);
  });

  test('that receives records cannot be read', async () => {
    const world = await openWorld();
    const definition = graph('in out', 'in>out');
    const runner = world.runner({ definition, inputs: { in: { kind: 'push' } }, outputs: { out: new Collector() } });
    await runner.start();
    expect(runner.trigger()).toBe(false);
  });
});
