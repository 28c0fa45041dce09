import { expect, test } from 'vitest';
import type { Batch } from '../connector-api/batch.js';
import { Collector, graph, numbered, numbersUpTo, openWorld } from '../testing/pipeline-fixture.js';
import { above, fast, push, status } from '../../../../test/support/pipeline-parts.js';
import {
  ConnectorError,
  WRITTEN,
  type Batching,
  type DataRecord,
  type PageInput,
  type WriteResult,
} from '../connector-api/index.js';

/** Batches its input and keeps every batch it was offered, written or not. */
class Gatherer extends Collector {
  readonly batching: Batching;
  readonly offered: Batch[] = [];

  constructor(batching: Batching) {
    super();
    this.batching = batching;
  }

  override write(batch: Batch, signal: AbortSignal): Promise<WriteResult> {
    this.offered.push(batch);
    return super.write(batch, signal);
  }

  get sizes(): number[] {
    return this.batches.map(({ lines }) => lines.length);
  }
}

const DAY = 86_400_000;
const definition = graph('in out', 'in>out');
const wide: Batching = { records: 1_000_000, bytes: 1e9, waitMs: DAY, replaces: true };

test.each([
  ['records', { ...wide, records: 30 }],
  ['bytes', { ...wide, bytes: 200 }],
  ['time', { ...wide, waitMs: 300 }],
])('pushed batches are written together: %s', async (_name, gathering) => {
  const world = await openWorld();
  const out = new Gatherer(gathering);
  const runner = world.runner({ definition, inputs: { in: push }, outputs: { out } });
  const before = Date.now();
  await runner.start();
  for (let n = 0; n < 30; n += 10) await runner.sink.append(numbered(10, n));
  await expect.poll(() => out.numbers).toEqual(numbersUpTo(30));
  expect(out.sizes).toEqual([30]);
  expect(new Set(Array.from({ length: 30 }, (_, n) => out.batches[0]?.recordId(n))).size).toBe(30);
  expect(out.batches[0]?.at).toBeGreaterThanOrEqual(before);
  await expect.poll(async () => (await runner.state()).egress.records).toBe(30);
  expect(await status(runner)).toBe('Running');
});

test('batching does not block other outputs, and a pause writes the batch', async () => {
  const world = await openWorld();
  const out = new Gatherer(wide);
  const runner = world.runner({ definition, inputs: { in: push }, outputs: { out } });
  await runner.start();
  await runner.sink.append(numbered(7));
  await runner.sink.append(numbered(3, 7));
  await expect
    .poll(async () => (await runner.state()).nodes.find((node) => node.node_id === 'out')?.ingress.records)
    .toBe(10);
  expect(await status(runner)).toBe('Running');
  expect(out.batches).toEqual([]);
  expect((await world.bus.stats('p.in')).records).toBe(10);
  await runner.pause();
  expect(out.numbers).toEqual(numbersUpTo(10));
  expect((await world.bus.stats('p.in')).records).toBe(0);
  await runner.resume();
  await runner.sink.append(numbered(1, 10));
  await expect
    .poll(async () => (await runner.state()).nodes.find((node) => node.node_id === 'out')?.ingress.records)
    .toBe(11);
  await runner.pause();
  expect(out.sizes).toEqual([10, 1]);
});

test('collects batches of the size that the output asks for, also large ones', async () => {
  const world = await openWorld(100_000_000);
  const out = new Gatherer({ ...wide, bytes: 12 * 1024 * 1024 });
  const runner = world.runner({ definition, inputs: { in: push }, outputs: { out } });
  await runner.start();
  const line = JSON.stringify({ text: 'x'.repeat(400_000) });
  for (let n = 0; n < 40; n += 1) await runner.sink.append([line]);
  await expect.poll(() => out.sizes, { timeout: 10_000 }).toEqual([32]);
});

test.each(['push', 'pages'])(
  '%s: acknowledges only written records, and delivers the others again with the same ids',
  async (kind) => {
    const world = await openWorld();
    const out = new Gatherer({ ...wide, records: 20 });
    let down = true;
    out.respond = () => {
      if (down) throw new ConnectorError('upstream_error', 'It has a problem.', 'retry');
      return WRITTEN;
    };
    const runner = world.runner({
      definition,
      inputs: { in: kind === 'push' ? push : paged(3, 10) },
      outputs: { out },
    });
    await runner.start();
    if (kind === 'push') for (let n = 0; n < 30; n += 10) await runner.sink.append(numbered(10, n));
    await expect.poll(() => status(runner)).toBe('Erroring');
    await runner.pause();
    expect((await runner.state()).egress.records).toBe(0);
    down = false;
    await runner.resume();
    // A pause writes what has arrived by then.
    await expect
      .poll(async () => {
        await runner.pause();
        await runner.resume();
        return out.numbers.length;
      })
      .toBe(30);
    await runner.pause();
    expect(out.numbers).toEqual(numbersUpTo(30));
    const ids = out.offered.filter(({ records }) => records[0]?.['n'] === 0).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(1);
    expect(new Set(out.batches.map(({ id }) => id)).size).toBe(2);
    expect((await runner.state()).ingress.records).toBe(30);
  },
);

/** Returns an input with `pages` pages of `size` numbered records. */
const paged = (pages: number, size: number): PageInput => ({
  kind: 'pages',
  readsAhead: true,
  intervalMs: 20,
  async *pages(cursor) {
    for (let page = Number(cursor ?? 0); page < pages; page += 1)
      yield {
        records: Array.from({ length: size }, (_, n) => ({ n: page * size + n })),
        cursor: page + 1,
      };
    await Promise.resolve();
  },
});

test('batches pages of several polls, next to an output without batching', async () => {
  const world = await openWorld();
  const [out, plain] = [new Gatherer({ ...wide, waitMs: 300 }), new Collector()];
  const runner = world.runner({
    definition: graph('in out oplain', 'in>out in>oplain'),
    inputs: { in: paged(3, 10) },
    outputs: { out, oplain: plain },
  });
  await runner.start();
  await expect.poll(() => plain.numbers).toEqual(numbersUpTo(30));
  await expect.poll(() => out.sizes).toEqual([30]);
  await expect.poll(async () => (await runner.state()).ingress.records).toBe(30);
  expect(plain.batches.length).toBe(3);
});

test('writes batches before every page if the source does not allow reading ahead', async () => {
  const world = await openWorld();
  const out = new Gatherer(wide);
  const told: number[] = [];
  const input: PageInput = {
    kind: 'pages',
    intervalMs: 60_000,
    async *pages() {
      await Promise.resolve();
      for (let page = 0; page < 3; page += 1) {
        told.push(out.numbers.length);
        yield { records: [{ n: page }], cursor: page + 1 };
      }
    },
  };
  const runner = world.runner({ definition, inputs: { in: input }, outputs: { out } });
  await runner.start();
  await expect.poll(() => out.numbers).toEqual([0, 1, 2]);
  expect(told).toEqual([0, 1, 2]);
});

test('does not wait for a batch that no record reaches', async () => {
  const world = await openWorld();
  const out = new Gatherer(wide);
  const runner = world.runner({
    definition: graph('in out', 'in>out', { 'in>out': above(100) }),
    inputs: { in: fast(50) },
    outputs: { out },
  });
  await runner.start();
  await expect.poll(async () => (await runner.state()).ingress.records).toBe(50);
  expect(out.batches).toEqual([]);
});

test('stores unreadable data of a page as dead letters and logs its notes', async () => {
  const world = await openWorld();
  const out = new Collector();
  const input: PageInput = {
    kind: 'pages',
    async *pages(cursor) {
      await Promise.resolve();
      if (cursor !== undefined) return;
      yield {
        records: [{ n: 0 }],
        cursor: 1,
        unreadable: [{ reason: 'invalid_json', found: 'no{json' }],
        notes: [{ level: 'warn', code: 'object_skipped', message: 'An object was skipped.' }],
      };
    },
  };
  const runner = world.runner({ definition, inputs: { in: input }, outputs: { out } });
  await runner.start();
  await expect.poll(() => out.numbers).toEqual([0]);
  expect(await world.deadLetters()).toEqual([
    expect.objectContaining({ reason: 'invalid_json', record: 'no{json', node_id: 'in' }),
  ]);
  expect(runner.log.entries()).toContainEqual(
    expect.objectContaining({ code: 'object_skipped', nodeId: 'in', level: 'warn' }),
  );
  expect((await runner.state()).errors).toBe(1);
});

test('a run that is paused while it starts ends at once', async () => {
  const world = await openWorld();
  const runner = world.runner({
    definition,
    inputs: { in: paged(1, 10) },
    outputs: { out: new Gatherer(wide) },
    // The test would time out if a run waited for it.
    limits: { grace: 600_000 },
  });
  await runner.start();
  for (let round = 0; round < 10; round += 1) {
    await runner.pause();
    await runner.resume();
  }
  await runner.pause();
  expect(await status(runner)).toBe('Disabled');
});

test.each(['stream', 'none', { key: (record: DataRecord) => JSON.stringify(record) }] as const)(
  'reads no further than the next write while a destination hangs: %s',
  async (ordering) => {
    const world = await openWorld();
    const out = Object.assign(new Gatherer({ records: 100, bytes: 3_000, waitMs: 0 }), { ordering });
    out.respond = (_batch, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    const runner = world.runner({ definition, inputs: { in: push }, outputs: { out } });
    await runner.start();
    // Each stored batch is larger than the limit of a write.
    for (let n = 0; n < 20_000; n += 500) await runner.sink.append(numbered(500, n));
    await expect.poll(() => out.offered.length).toBe(1);
    const ingress = async () =>
      (await runner.state()).nodes.find((node) => node.node_id === 'out')?.ingress.records ?? 0;
    await expect.poll(ingress).toBeGreaterThan(0);
    // One that is being written, one that is collected and the stored batch that was read last.
    // With a key, eight may be collected.
    expect(await ingress()).toBeLessThanOrEqual(typeof ordering === 'string' ? 1_000 : 3_000);
    expect((await world.bus.stats('p.in')).records).toBe(20_000);
  },
);
