import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createEmbeddedCoordinator } from '../coordinator/embedded-coordinator.js';
import { createSyntheticInput } from '@connector-frame/connectors';
import { Collector, graph, numbered, numbersUpTo, openWorld } from '../testing/pipeline-fixture.js';
import { above, codes, fast, push, shape, status } from '../../../../test/support/pipeline-parts.js';
import { ConnectorError, WRITTEN } from '../connector-api/index.js';

test('delivers pages to two outputs, commits the cursor and counts the records', async () => {
  const world = await openWorld();
  const [one, two] = [new Collector(), new Collector()];
  const runner = world.runner({
    definition: graph('in out out2', 'in>out in>out2'),
    inputs: { in: fast(2_500) },
    outputs: { out: one, out2: two },
  });
  await runner.start();
  await expect.poll(async () => (await runner.state()).ingress.records).toBe(2_500);
  expect(one.numbers).toEqual(numbersUpTo(2_500));
  expect(two.numbers).toEqual(numbersUpTo(2_500));
  const state = await runner.state();
  expect(state).toMatchObject({ status: 'Running', errors: 0, egress: { records: 5_000 }, last_error: null });
  expect(state.ingress.bytes).toBe(numbered(2_500).join('').length);
  expect(state.nodes.map(({ node_id, egress }) => [node_id, egress.records])).toEqual([
    ['in', 2_500],
    ['out', 2_500],
    ['out2', 2_500],
  ]);
  expect(Date.now() - Date.parse(state.last_ingested_time ?? '')).toBeLessThan(10_000);
  const coordinator = createEmbeddedCoordinator({ store: world.store });
  await runner.stop();
  const lease = await coordinator.acquire('p', 'someone', 1_000);
  expect(lease && (await coordinator.openCursor(lease, 'p/in'))).toMatchObject({ value: { next: 2_500 } });
});

test('applies conditions and transforms, and stores rejected records with the reason', async () => {
  const world = await openWorld();
  const [high, all] = [new Collector(), new Collector()];
  all.respond = (batch) => ({
    rejected: batch.records.flatMap(({ n }, index) => (n === 13 ? [{ index, reason: 'unlucky' }] : [])),
  });
  const runner = world.runner({
    definition: graph('in tag out out2', 'in>tag tag>out in>out2', { 'tag>out': above(89) }),
    inputs: {
      in: createSyntheticInput({ rate: 50_000, total: 100, shape: (n) => ({ n, size: n === 95 ? 'x' : String(n) }) }),
    },
    outputs: { out: high, out2: all },
    transforms: {
      tag: {
        operations: [
          { operation: 'mutate_type', arguments: { key: 'size', type: 'int' } },
          { operation: 'add', arguments: { key: 'tag', value: true } },
        ],
      },
    },
  });
  await runner.start();
  await expect.poll(async () => (await runner.state()).ingress.records).toBe(100);
  // Both outputs read from the buffer of the input.
  await expect.poll(async () => (await runner.state()).waiting).toBe(0);
  expect(high.records).toEqual([90, 91, 92, 93, 94, 96, 97, 98, 99].map((n) => ({ n, size: n, tag: true })));
  expect(all.numbers).toEqual(numbersUpTo(100).filter((n) => n !== 13));
  const letters = await world.deadLetters();
  expect(letters).toHaveLength(2);
  expect(letters).toContainEqual(
    expect.objectContaining({ node_id: 'out2', reason: 'unlucky', record: { n: 13, size: '13' } }),
  );
  expect(letters).toContainEqual(
    expect.objectContaining({
      node_id: 'tag',
      reason: expect.stringMatching(/^not_convertible/),
      record: { n: 95, size: 'x' },
    }),
  );
  const state = await runner.state();
  expect(state).toMatchObject({ status: 'Running', errors: 2 });
  expect(state.nodes.find(({ node_id }) => node_id === 'tag')).toMatchObject({
    ingress: { records: 100 },
    egress: { records: 99 },
    errors: 1,
  });
  expect(codes(runner)).toContain('records_refused');
});

test('a push input counts 1,000 records, accepts 500 while paused and delivers all in order after resume', async () => {
  const world = await openWorld();
  const out = new Collector();
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: push }, outputs: { out } });
  await runner.start();
  await expect.poll(() => status(runner)).toBe('Running');
  for (let n = 0; n < 1_000; n += 100) {
    expect(await runner.sink.append(numbered(100, n))).toEqual({ stored: true, tooLarge: [] });
  }
  await expect.poll(async () => (await runner.state()).egress.records).toBe(1_000);
  await runner.pause();
  expect(await status(runner)).toBe('Disabled');
  expect(out.closed).toBe(1);
  for (let n = 1_000; n < 1_500; n += 1) void runner.sink.append(numbered(1, n));
  expect(await runner.sink.append([])).toEqual({ stored: true, tooLarge: [] });
  await expect.poll(async () => (await runner.state()).waiting).toBe(500);
  expect(await runner.state()).toMatchObject({ ingress: { records: 1_500 }, egress: { records: 1_000 } });
  await runner.resume();
  await expect.poll(async () => (await runner.state()).egress.records).toBe(1_500);
  expect(out.numbers).toEqual(numbersUpTo(1_500));
  // Records are acknowledged after they are counted.
  await expect.poll(() => runner.state()).toMatchObject({ status: 'Running', waiting: 0 });
  // Many small requests were grouped into few batches.
  expect(out.batches.length).toBeLessThan(200);
});

test('an output that hangs does not block the other; the buffer fills, reports it and drains', async () => {
  const world = await openWorld(20_000);
  const [stuck, free] = [new Collector(), new Collector()];
  const gate = new AbortController();
  stuck.respond = async () => {
    if (!gate.signal.aborted) await once(gate.signal, 'abort');
    return WRITTEN;
  };
  const runner = world.runner({
    definition: graph('in out out2', 'in>out in>out2'),
    inputs: { in: push },
    outputs: { out: stuck, out2: free },
  });
  await runner.start();
  let stored = 0;
  for (; stored < 1_000; stored += 1) {
    const answer = await runner.sink.append(numbered(1, stored));
    if (!answer.stored) {
      expect(answer).toEqual({ stored: false, reason: 'full' });
      break;
    }
  }
  expect(stored).toBeGreaterThan(100);
  expect(stored).toBeLessThan(1_000);
  await expect.poll(() => free.numbers.length).toBe(stored);
  const state = await runner.state();
  expect(state.status).toBe('Throttled');
  expect(state.nodes.map((node) => node.status)).toEqual(['Throttled', 'Initializing', 'Running']);
  expect(codes(runner)).toContain('buffer_full');
  gate.abort();
  await expect.poll(() => stuck.numbers).toEqual(numbersUpTo(stored));
  await expect.poll(() => status(runner)).toBe('Running');
  expect(await runner.sink.append(numbered(1))).toMatchObject({ stored: true });
});

test('counts, desired state and cursor survive the worker; remove deletes all of them', async () => {
  const world = await openWorld();
  const out = new Collector();
  const make = () =>
    world.runner({ definition: graph('in out', 'in>out'), inputs: { in: fast(1_000) }, outputs: { out } });
  const first = make();
  await first.start();
  await expect.poll(() => out.numbers.length).toBeGreaterThan(0);
  await first.pause();
  const paused = await first.state();
  await first.stop();
  const second = make();
  await second.start();
  await expect.poll(() => status(second)).toBe('Disabled');
  expect((await second.state()).ingress).toEqual(paused.ingress);
  await second.resume();
  await expect.poll(async () => (await second.state()).ingress.records).toBe(1_000);
  expect(out.numbers).toEqual(numbersUpTo(1_000));
  await second.remove();
  const third = make();
  await third.start();
  await expect.poll(() => out.numbers.length).toBe(2_000);
});

test('the second of two workers takes over at the cursor of the first', async () => {
  const world = await openWorld();
  const out = new Collector();
  const make = (holder: string) =>
    world.runner({
      definition: graph('in out', 'in>out'),
      inputs: { in: createSyntheticInput({ rate: 2_000, total: 1_000, shape }) },
      outputs: { out },
      holder,
    });
  const [one, two] = [make('one'), make('two')];
  await one.start();
  await expect.poll(() => status(one)).toBe('Running');
  await two.start();
  await expect.poll(() => out.numbers.length).toBeGreaterThan(300);
  // Both runners return the same state.
  expect(await status(two)).toBe('Running');
  expect(codes(two)).not.toContain('started');
  await one.stop();
  await expect.poll(async () => (await two.state()).ingress.records).toBe(1_000);
  expect(out.numbers).toEqual(numbersUpTo(1_000));
});

test('closes a page input after its last page when the pipeline stops', async () => {
  const world = await openWorld();
  const did: string[] = [];
  const source = fast(10);
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: {
      in: {
        ...source,
        async *pages(cursor, signal) {
          try {
            yield* source.pages(cursor, signal);
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
          } finally {
            did.push('read');
          }
        },
        close: () => (did.push('closed'), Promise.reject(new Error('it does not even close'))),
      },
    },
    outputs: { out: new Collector() },
  });
  await runner.start();
  await expect.poll(async () => (await runner.state()).ingress.records).toBe(10);
  await runner.stop();
  expect(did).toEqual(['read', 'closed']);
  expect(codes(runner)).toContain('close_failed');
  // The lease was released nevertheless.
  expect(await createEmbeddedCoordinator({ store: world.store }).holder('p')).toBeUndefined();
});

test('retries a push input that fails to start, and reports why', async () => {
  const world = await openWorld();
  let isFree = false;
  const start = (): Promise<void> =>
    isFree ? Promise.resolve() : Promise.reject(new ConnectorError('port', 'The port is taken.', 'permanent'));
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: { in: { kind: 'push', start } },
    outputs: { out: new Collector() },
  });
  await runner.start();
  await expect
    .poll(() => runner.state())
    .toMatchObject({ status: 'Erroring', last_error: { code: 'port', node_id: 'in' } });
  isFree = true;
  await expect.poll(() => status(runner)).toBe('Running');
  await runner.stop();
});

test('an output without a path does not fill the buffer of the others', async () => {
  const world = await openWorld(20_000);
  const out = new Collector();
  const whole = graph('in out out2', 'in>out in>out2');
  const nodes = whole.nodes.map((node) => ({ ...node, enabled: node.id !== 'out2' }));
  const runner = world.runner({
    definition: { ...whole, nodes },
    inputs: { in: push },
    outputs: { out, out2: new Collector() },
  });
  await runner.start();
  for (let n = 0; n < 50; n += 1) {
    expect(await runner.sink.append([JSON.stringify({ n, text: 'x'.repeat(1_000) })])).toMatchObject({ stored: true });
    await expect.poll(() => out.batches.length).toBe(n + 1);
  }
  await runner.stop();
});
