import { expect, test } from 'vitest';
import { createEmbeddedCoordinator } from '../coordinator/embedded-coordinator.js';
import { Collector, graph, numbered, numbersUpTo, openWorld } from '../testing/pipeline-fixture.js';
import { codes, fast, push, status } from '../../../../test/support/pipeline-parts.js';
import { isRecord } from '../connector-api/record.js';
import { ConnectorError, WRITTEN, type PageInput, type PushInput } from '../connector-api/index.js';

test('retries only the failed records until they are written', async () => {
  const world = await openWorld();
  const out = new Collector();
  out.respond = (batch) => {
    const odd = batch.records.flatMap(({ n }, index) => (Number(n) % 2 ? [index] : []));
    return batch.lines.length > 5 ? { retry: { indexes: odd, reason: 'busy' } } : WRITTEN;
  };
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: push }, outputs: { out } });
  await runner.start();
  await runner.sink.append(numbered(10));
  await expect.poll(() => out.numbers.length).toBe(10);
  expect(out.numbers).toEqual([0, 2, 4, 6, 8, 1, 3, 5, 7, 9]);
  const [first, second] = out.batches;
  expect(second?.id).not.toBe(first?.id);
  expect((await runner.state()).egress.records).toBe(10);
});

test('an output that fails is Erroring, loses nothing, and is Running after it recovers', async () => {
  const world = await openWorld();
  const out = new Collector();
  const secret = 'hunter2';
  let down = true;
  out.respond = () => {
    if (down) throw Object.assign(new Error(`rejected: ${secret}`), { code: 'ECONNREFUSED' });
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

test('a permanent error is Erroring at once, with its message', async () => {
  const world = await openWorld();
  const out = new Collector();
  out.respond = () => {
    throw new ConnectorError('unauthorized', 'The token was refused. Enter another one.', 'permanent');
  };
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: { in: push },
    outputs: { out },
    limits: { retryCap: 60_000 },
  });
  await runner.start();
  await runner.sink.append(numbered(1));
  await expect.poll(() => status(runner)).toBe('Erroring');
  expect((await runner.state()).last_error).toMatchObject({
    code: 'unauthorized',
    message: expect.stringContaining('token'),
  });
  // A stop interrupts the backoff, which takes at least 30 seconds: more than this test may.
  await runner.pause();
  expect(await status(runner)).toBe('Disabled');
});

test('a rate-limited source is Throttled for the requested time, then continues', async () => {
  const world = await openWorld();
  const out = new Collector();
  let asked = 0;
  const input: PageInput = {
    kind: 'pages',
    async *pages(cursor) {
      asked += 1;
      if (asked === 1) throw new ConnectorError('rate_limited', 'Too many requests.', 'throttled', 300);
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

test('a part without a runtime is Erroring with the reason; pushed records are kept', async () => {
  const world = await openWorld();
  const definition = graph('in out', 'in>out');
  const runner = world.runner({ definition, inputs: { in: push }, outputs: {} });
  await runner.start();
  await runner.sink.append(numbered(3));
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

test('a worker that loses its lease during delivery does not commit the cursor', async () => {
  const world = await openWorld();
  const out = new Collector();
  const coordinator = createEmbeddedCoordinator({ store: world.store });
  let stolen = false;
  out.respond = async () => {
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
  // With the lease back, it reads the page again: delivery is at least once.
  await expect.poll(async () => (await runner.state()).ingress.records).toBe(100);
  expect(out.numbers).toEqual([...numbersUpTo(100), ...numbersUpTo(100)]);
  const [first, second] = out.batches;
  expect(second?.id).toBe(first?.id);
});

test('abandons an output that ignores its abort signal', async () => {
  const world = await openWorld();
  const out = new Collector();
  out.respond = () => new Promise(() => undefined);
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: { in: push },
    outputs: { out },
    limits: { grace: 50 },
  });
  await runner.start();
  await runner.sink.append(numbered(1));
  await expect.poll(async () => (await runner.state()).nodes[1]?.ingress.records).toBe(1);
  await runner.pause();
  expect(await status(runner)).toBe('Disabled');
  out.respond = () => WRITTEN;
  await runner.resume();
  await expect.poll(() => out.numbers).toEqual([0]);
});

test('a worker that loses its lease abandons an output that ignores its abort signal', async () => {
  const world = await openWorld();
  const out = new Collector();
  out.respond = () => new Promise(() => undefined);
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: { in: push },
    outputs: { out },
    limits: { grace: 50 },
  });
  await runner.start();
  await runner.sink.append(numbered(1));
  await expect.poll(async () => (await runner.state()).nodes[1]?.ingress.records).toBe(1);
  out.respond = () => WRITTEN;
  const coordinator = createEmbeddedCoordinator({ store: world.store });
  const held = await coordinator.holder('p');
  if (held) await coordinator.release(held);
  await coordinator.acquire('p', 'thief', 200);
  await expect.poll(() => codes(runner)).toContain('lease_lost');
  await expect.poll(() => out.numbers).toEqual([0]);
});

test('an unknown condition stops only its own pipeline', async () => {
  const world = await openWorld();
  const out = new Collector();
  const stored: unknown = { operator: 'and', conditions: [{ type_id: 'of_a_later_release', config: { key: 'n' } }] };
  const definition = graph('in out', 'in>out');
  const edges = definition.edges.map((edge) => ({ ...edge, conditions: JSON.parse(JSON.stringify(stored)) }));
  const runner = world.runner({ definition: { ...definition, edges }, inputs: { in: push }, outputs: { out } });
  await runner.start();
  await expect.poll(() => status(runner)).toBe('Erroring');
  expect(await runner.sink.append(numbered(3))).toMatchObject({ stored: true });
  await runner.pause();
  expect(out.batches).toEqual([]);
});

test('a record nested too deeply goes to the dead letters; the others arrive', async () => {
  const world = await openWorld();
  const out = new Collector();
  const deep: unknown = JSON.parse(`{"n":1,"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
  if (!isRecord(deep)) throw new Error('no record');
  const input: PageInput = {
    kind: 'pages',
    async *pages(cursor) {
      if (cursor === undefined) yield { records: [{ n: 0 }, deep, { n: 2 }], cursor: 'end' };
    },
  };
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: input }, outputs: { out } });
  await runner.start();
  await expect.poll(() => out.numbers).toEqual([0, 2]);
  await expect.poll(() => status(runner)).toBe('Running');
  expect(await world.deadLetters()).toMatchObject([{ node_id: 'in', reason: 'too_deep', record: { index: 1 } }]);
  expect((await runner.state()).errors).toBe(1);
});

test('a pipeline stops even if its input fails to close', async () => {
  const world = await openWorld();
  const out = new Collector();
  const input: PushInput = {
    kind: 'push',
    close: () => Promise.reject(Object.assign(new Error('hunter2'), { code: 'EBUSY' })),
  };
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: input }, outputs: { out } });
  await runner.start();
  await runner.sink.append(numbered(3));
  await expect.poll(() => out.numbers.length).toBe(3);
  await runner.stop();
  expect([out.closed, await runner.sink.append(numbered(1))]).toEqual([1, { stored: false, reason: 'closed' }]);
  expect(codes(runner)).toEqual(expect.arrayContaining(['close_failed', 'stopped']));
  expect(JSON.stringify(runner.log.entries())).not.toContain('hunter2');
});
