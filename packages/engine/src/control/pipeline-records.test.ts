import { expect, test } from 'vitest';
import { createDevNullOutput, createSyntheticInput } from '@connector-frame/connectors';
import { Collector, graph, numbered, openWorld } from '../testing/pipeline-fixture.js';
import { above, add, push } from '../../../../test/support/pipeline-parts.js';

test('stores lines that are not records as dead letters and delivers the others', async () => {
  const world = await openWorld();
  const [out, raw] = [new Collector(), new Collector()];
  const runner = world.runner({
    definition: graph('in out out2', 'in>out in>out2', { 'in>out': above(-1) }),
    inputs: { in: push },
    outputs: { out, out2: raw },
  });
  await runner.start();
  await runner.sink.append(['{"n":0}', 'nonsense', '[1]', '{"n":1}']);
  await runner.sink.append(['{\n  "n": 2\n}']);
  await expect.poll(() => out.numbers).toEqual([0, 1, 2]);
  expect((await world.deadLetters()).map(({ record }) => record)).toEqual(['nonsense', '[1]']);
  // A path without conditions and transforms forwards lines without parsing them.
  await expect
    .poll(() => raw.batches.flatMap(({ lines }) => lines))
    .toEqual(['{"n":0}', 'nonsense', '[1]', '{"n":1}', '{"n":2}']);
});

test('stores a record larger than a batch as a dead letter and accepts the others', async () => {
  const world = await openWorld();
  const out = new Collector();
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: push }, outputs: { out } });
  await runner.start();
  const big = JSON.stringify({ n: 1, text: 'x'.repeat(600_000) });
  expect(await runner.sink.append([...numbered(1), big, ...numbered(1, 2)])).toEqual({ stored: true, tooLarge: [1] });
  await expect.poll(() => out.numbers).toEqual([0, 2]);
  expect(await world.deadLetters()).toEqual([expect.objectContaining({ reason: 'too_large', node_id: 'in' })]);
  expect((await runner.state()).errors).toBe(1);
});

test('drops duplicates by the position that the sender gives', async () => {
  const world = await openWorld();
  const out = new Collector();
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: push }, outputs: { out } });
  await runner.start();
  for (let n = 0; n < 3; n += 1) await runner.sink.append(numbered(2), { position: 'request-1' });
  await runner.sink.append(numbered(1, 2));
  await expect.poll(() => out.numbers).toEqual([0, 1, 2]);
  expect((await runner.state()).ingress.records).toBe(3);
});

test('two paths to one output deliver a record twice, with different ids', async () => {
  const world = await openWorld();
  const out = new Collector();
  const runner = world.runner({
    definition: graph('in a b out', 'in>a in>b a>out b>out'),
    inputs: { in: push },
    outputs: { out },
    transforms: { a: add('a'), b: add('b') },
  });
  await runner.start();
  await runner.sink.append(numbered(1));
  await expect
    .poll(() => out.records)
    .toEqual([
      { n: 0, by: 'a' },
      { n: 0, by: 'b' },
    ]);
  expect(new Set(out.batches.flatMap((batch) => [batch.id, batch.recordId(0)])).size).toBe(4);
});

test('dev-null accepts all records', async () => {
  const world = await openWorld();
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: { in: createSyntheticInput({ rate: 100, total: 20 }) },
    outputs: { out: createDevNullOutput() },
  });
  await runner.start();
  await expect.poll(async () => (await runner.state()).egress.records).toBe(20);
});

test('follows the log live', async () => {
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
