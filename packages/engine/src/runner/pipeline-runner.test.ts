import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createEmbeddedCoordinator } from '../coordinator/embedded-coordinator.js';
import { createDevNullOutput } from '../ends/dev-null-output.js';
import { createSyntheticInput } from '../ends/synthetic-input.js';
import { Collector, graph, numbered, numbersUpTo, openWorld } from '../testing/pipeline-fixture.js';
import { EndError, WRITTEN, type Input, type PageInput } from './ends.js';
import type { PipelineRunner } from './pipeline-runner.js';

const push: Input = { kind: 'push' };
const shape = (n: number) => ({ n });
const fast = (total: number) => createSyntheticInput({ rate: 50_000, total, shape });

const above = (value: number) => ({
  operator: 'and' as const,
  conditions: [{ type_id: 'greater_than' as const, config: { key: 'n', value } }],
});
const add = (value: string) => ({ operations: [{ operation: 'add' as const, arguments: { key: 'by', value } }] });

const status = async (runner: PipelineRunner) => (await runner.state()).status;
const codes = (runner: PipelineRunner) => runner.log.entries().map(({ code }) => code);

test('pages go to two outputs; the cursor follows; what is counted is what went', async () => {
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

test('conditions choose, transforms change, and what nobody can take is kept with the reason', async () => {
  const world = await openWorld();
  const [high, all] = [new Collector(), new Collector()];
  all.answer = (batch) => ({
    refused: batch.records.flatMap(({ n }, index) => (n === 13 ? [{ index, reason: 'unlucky' }] : [])),
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

test('pushed: 1,000 counted; paused, 500 more are taken in; resumed, 1,500; nothing is lost or moved', async () => {
  const world = await openWorld();
  const out = new Collector();
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: push }, outputs: { out } });
  await runner.start();
  await expect.poll(() => status(runner)).toBe('Running');
  for (let n = 0; n < 1_000; n += 100) {
    expect(await runner.append(numbered(100, n))).toEqual({ stored: true, tooLarge: [] });
  }
  await expect.poll(async () => (await runner.state()).egress.records).toBe(1_000);
  await runner.pause();
  expect(await status(runner)).toBe('Disabled');
  expect(out.closed).toBe(1);
  for (let n = 1_000; n < 1_500; n += 1) void runner.append(numbered(1, n));
  expect(await runner.append([])).toEqual({ stored: true, tooLarge: [] });
  await expect.poll(async () => (await runner.state()).waiting).toBe(500);
  expect(await runner.state()).toMatchObject({ ingress: { records: 1_500 }, egress: { records: 1_000 } });
  await runner.resume();
  await expect.poll(async () => (await runner.state()).egress.records).toBe(1_500);
  expect(out.numbers).toEqual(numbersUpTo(1_500));
  expect(await runner.state()).toMatchObject({ status: 'Running', waiting: 0 });
  // Many small requests became few batches.
  expect(out.batches.length).toBeLessThan(200);
});

test('one output that hangs does not hold up the other; the buffer fills, is told, and drains', async () => {
  const world = await openWorld(20_000);
  const [stuck, free] = [new Collector(), new Collector()];
  const gate = new AbortController();
  stuck.answer = async () => {
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
    const answer = await runner.append(numbered(1, stored));
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
  expect(await runner.append(numbered(1))).toMatchObject({ stored: true });
});

test('what may be tried again is, alone, until it goes', async () => {
  const world = await openWorld();
  const out = new Collector();
  out.answer = (batch) => {
    const odd = batch.records.flatMap(({ n }, index) => (Number(n) % 2 ? [index] : []));
    return batch.lines.length > 5 ? { retry: { indexes: odd, reason: 'busy' } } : WRITTEN;
  };
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: push }, outputs: { out } });
  await runner.start();
  await runner.append(numbered(10));
  await expect.poll(() => out.numbers.length).toBe(10);
  expect(out.numbers).toEqual([0, 2, 4, 6, 8, 1, 3, 5, 7, 9]);
  const [first, second] = out.batches;
  expect(second?.id).not.toBe(first?.id);
  expect((await runner.state()).egress.records).toBe(10);
});

test('an output that fails: Erroring, nothing lost, and Running again once it is back', async () => {
  const world = await openWorld();
  const out = new Collector();
  const secret = 'hunter2';
  let down = true;
  out.answer = () => {
    if (down) throw Object.assign(new Error(`refused: ${secret}`), { code: 'ECONNREFUSED' });
    return WRITTEN;
  };
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: fast(100) }, outputs: { out } });
  await runner.start();
  await expect.poll(() => status(runner)).toBe('Erroring');
  const state = await runner.state();
  expect(state).toMatchObject({ ingress: { records: 0 }, last_error: { code: 'ECONNREFUSED', node_id: 'out' } });
  expect(JSON.stringify([state, runner.log.entries()])).not.toContain(secret);
  down = false;
  await expect.poll(() => status(runner)).toBe('Running');
  expect(out.numbers).toEqual(numbersUpTo(100));
  expect(codes(runner)).toContain('recovered');
});

test('an error that a person must mend shows at once, and its message is told', async () => {
  const world = await openWorld();
  const out = new Collector();
  out.answer = () => {
    throw new EndError('unauthorized', 'The token was refused. Enter another one.', 'permanent');
  };
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: { in: push },
    outputs: { out },
    limits: { retryCap: 60_000 },
  });
  await runner.start();
  await runner.append(numbered(1));
  await expect.poll(() => status(runner)).toBe('Erroring');
  expect((await runner.state()).last_error).toMatchObject({
    code: 'unauthorized',
    message: expect.stringContaining('token'),
  });
  // It does not sit out its wait when it is told to stop.
  const began = Date.now();
  await runner.pause();
  expect(Date.now() - began).toBeLessThan(1_000);
  expect(await status(runner)).toBe('Disabled');
});

test('a source that asks for less: Throttled for as long as it asked, then on', async () => {
  const world = await openWorld();
  const out = new Collector();
  let asked = 0;
  const input: PageInput = {
    kind: 'pages',
    async *pages(cursor) {
      asked += 1;
      if (asked === 1) throw new EndError('rate_limited', 'Too many requests.', 'throttled', 300);
      if (cursor === undefined) yield { records: [{ n: 0 }], cursor: 1 };
    },
  };
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: input }, outputs: { out } });
  const began = Date.now();
  await runner.start();
  await expect.poll(() => status(runner), { interval: 5 }).toBe('Throttled');
  await expect.poll(() => status(runner)).toBe('Running');
  expect(Date.now() - began).toBeGreaterThanOrEqual(300);
  expect(out.numbers).toEqual([0]);
});

test('a part without a runtime: Erroring, with the reason; what is pushed is kept', async () => {
  const world = await openWorld();
  const definition = graph('in out', 'in>out');
  const runner = world.runner({ definition, inputs: { in: push }, outputs: {} });
  await runner.start();
  await runner.append(numbered(3));
  await expect.poll(() => status(runner)).toBe('Erroring');
  expect((await runner.state()).last_error).toMatchObject({
    code: 'no_runtime',
    message: expect.stringContaining('out'),
  });
  await runner.stop();
  const out = new Collector();
  const later = world.runner({ definition, inputs: { in: push }, outputs: { out } });
  await later.start();
  await expect.poll(() => out.numbers).toEqual([0, 1, 2]);
});

test('counts, wish and cursor outlive the worker; a removed pipeline leaves nothing', async () => {
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

test('two workers: one runs; when it is gone the other takes over where it was', async () => {
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
  // Both tell the same, whoever is asked.
  expect(await status(two)).toBe('Running');
  expect(codes(two)).not.toContain('started');
  await one.stop();
  await expect.poll(async () => (await two.state()).ingress.records, { timeout: 5_000 }).toBe(1_000);
  expect(out.numbers).toEqual(numbersUpTo(1_000));
});

test('who lost the lease while delivering does not move the cursor', async () => {
  const world = await openWorld();
  const out = new Collector();
  const coordinator = createEmbeddedCoordinator({ store: world.store });
  let stolen = false;
  out.answer = async () => {
    if (!stolen) {
      stolen = true;
      const held = await coordinator.holder('p');
      if (held) await coordinator.release(held);
      const lease = await coordinator.acquire('p', 'thief', 200);
      if (lease) await coordinator.openCursor(lease, 'p/in');
    }
    return WRITTEN;
  };
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: fast(100) }, outputs: { out } });
  await runner.start();
  await expect.poll(() => codes(runner)).toContain('lease_lost');
  // Once it has the lease again it reads the page again: at least once.
  await expect.poll(async () => (await runner.state()).ingress.records, { timeout: 5_000 }).toBe(100);
  expect(out.numbers).toEqual([...numbersUpTo(100), ...numbersUpTo(100)]);
  const [first, again] = out.batches;
  expect(again?.id).toBe(first?.id);
});

test('an output that does not even give up holds nobody up', async () => {
  const world = await openWorld();
  const out = new Collector();
  out.answer = () => new Promise(() => undefined);
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: { in: push },
    outputs: { out },
    limits: { grace: 50 },
  });
  await runner.start();
  await runner.append(numbered(1));
  await expect.poll(async () => (await runner.state()).nodes[1]?.ingress.records).toBe(1);
  const began = Date.now();
  await runner.pause();
  expect(Date.now() - began).toBeLessThan(1_000);
  expect(await status(runner)).toBe('Disabled');
  out.answer = () => WRITTEN;
  await runner.resume();
  await expect.poll(() => out.numbers).toEqual([0]);
});

test('what is no record is kept aside where somebody looks into it, and holds up nothing', async () => {
  const world = await openWorld();
  const [out, raw] = [new Collector(), new Collector()];
  const runner = world.runner({
    definition: graph('in out out2', 'in>out in>out2', { 'in>out': above(-1) }),
    inputs: { in: push },
    outputs: { out, out2: raw },
  });
  await runner.start();
  await runner.append(['{"n":0}', 'nonsense', '[1]', '{"n":1}']);
  await runner.append(['{\n  "n": 2\n}']);
  await expect.poll(() => out.numbers).toEqual([0, 1, 2]);
  expect((await world.deadLetters()).map(({ record }) => record)).toEqual(['nonsense', '[1]']);
  // Who only passes texts on is not asked to read them.
  await expect
    .poll(() => raw.batches.flatMap(({ lines }) => lines))
    .toEqual(['{"n":0}', 'nonsense', '[1]', '{"n":1}', '{"n":2}']);
});

test('a record too large for any batch is kept aside, the others of its request go on', async () => {
  const world = await openWorld();
  const out = new Collector();
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: push }, outputs: { out } });
  await runner.start();
  const big = JSON.stringify({ n: 1, text: 'x'.repeat(600_000) });
  expect(await runner.append([...numbered(1), big, ...numbered(1, 2)])).toEqual({ stored: true, tooLarge: [1] });
  await expect.poll(() => out.numbers).toEqual([0, 2]);
  expect(await world.deadLetters()).toEqual([expect.objectContaining({ reason: 'too_large', node_id: 'in' })]);
  expect((await runner.state()).errors).toBe(1);
});

test('a sender that names the place of its records may repeat them', async () => {
  const world = await openWorld();
  const out = new Collector();
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: push }, outputs: { out } });
  await runner.start();
  for (let n = 0; n < 3; n += 1) await runner.append(numbered(2), { position: 'request-1' });
  await runner.append(numbered(1, 2));
  await expect.poll(() => out.numbers).toEqual([0, 1, 2]);
  expect((await runner.state()).ingress.records).toBe(3);
});

test('two ways to one output bring a record twice, and not as a repeat', async () => {
  const world = await openWorld();
  const out = new Collector();
  const runner = world.runner({
    definition: graph('in a b out', 'in>a in>b a>out b>out'),
    inputs: { in: push },
    outputs: { out },
    transforms: { a: add('a'), b: add('b') },
  });
  await runner.start();
  await runner.append(numbered(1));
  await expect
    .poll(() => out.records)
    .toEqual([
      { n: 0, by: 'a' },
      { n: 0, by: 'b' },
    ]);
  expect(new Set(out.batches.flatMap((batch) => [batch.id, batch.recordId(0)])).size).toBe(4);
});

test('dev-null takes all of it', async () => {
  const world = await openWorld();
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: { in: createSyntheticInput({ rate: 100, total: 20 }) },
    outputs: { out: createDevNullOutput() },
  });
  await runner.start();
  await expect.poll(async () => (await runner.state()).egress.records).toBe(20);
});

test('the log is followed live', async () => {
  const world = await openWorld();
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: { in: push },
    outputs: { out: new Collector() },
  });
  const stop = new AbortController();
  const heard: string[] = [];
  const following = (async () => {
    for await (const { code } of runner.log.tail(stop.signal)) heard.push(code);
  })();
  await runner.start();
  await expect.poll(() => heard).toContain('started');
  await runner.pause();
  await expect.poll(() => heard).toEqual(['started', 'pausing', 'paused']);
  stop.abort();
  await following;
});
