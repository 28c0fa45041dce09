import { expect, test } from 'vitest';
import type { TransformConfig } from '../transforms/operation.js';
import { Collector, graph, numbered, numbersUpTo, openWorld } from '../testing/pipeline-fixture.js';
import { fast, push } from '../../../../test/support/pipeline-parts.js';
import type { RunnerLimits } from '../delivery/runner-options.js';

const jq = (query: string): TransformConfig['operations'][number] => ({ operation: 'jq', arguments: { query } });
const mark: TransformConfig['operations'][number] = { operation: 'add', arguments: { key: 'marked', value: true } };
/** Allows for the start of a worker thread. */

/** Starts a pipeline with a push input, these operations and one output. */
async function startThrough(operations: TransformConfig['operations'], limits: Partial<RunnerLimits> = {}) {
  const world = await openWorld();
  const out = new Collector();
  const runner = world.runner({
    definition: graph('in a out', 'in>a a>out'),
    inputs: { in: push },
    outputs: { out },
    transforms: { a: { operations } },
    limits,
  });
  await runner.start();
  return { world, out, runner };
}

test('a program drops, keeps and multiplies records; counts match its input and output', async () => {
  const query =
    'if .n == 0 then empty elif .n == 1 then (., .) elif .n == 2 then .n elif .n == 3 then error("x") else . end';
  const { world, out, runner } = await startThrough([mark, jq(query), jq('.n += 10'), mark]);
  await runner.sink.append(numbered(6));
  await expect.poll(() => out.numbers).toEqual([11, 11, 14, 15]);
  expect(out.records.every((record) => record['marked'] === true)).toBe(true);
  expect((await world.deadLetters()).map(({ reason, record, node_id }) => [node_id, reason, record])).toEqual([
    ['a', 'jq_not_an_object', { n: 2, marked: true }],
    ['a', 'jq_error', { n: 3, marked: true }],
  ]);
  await expect
    .poll(async () => (await runner.state()).nodes.find(({ node_id }) => node_id === 'a'))
    .toMatchObject({ ingress: { records: 6 }, egress: { records: 4 }, errors: 2 });
});

test('ids are unique, and the same when a batch is redelivered', async () => {
  const { out, runner } = await startThrough([
    jq('if .n == 1 then (., .) else . end'),
    jq('if .n == 2 then (., .) else . end'),
  ]);
  const tried: string[][] = [];
  out.respond = (batch) => {
    tried.push([batch.id, ...batch.lines.map((_, index) => batch.recordId(index))]);
    if (tried.length < 3) throw new Error('not now');
    return {};
  };
  await runner.sink.append(numbered(3), { position: 'one' });
  await expect.poll(() => out.numbers).toEqual([0, 1, 1, 2, 2]);
  expect(tried[1]).toEqual(tried[0]);
  expect(tried[2]).toEqual(tried[0]);
  expect(new Set(tried[0]).size).toBe(6);
  const [, first, , , , last = ''] = tried[0] ?? [];
  expect([first, last]).toEqual([expect.stringMatching(/\.0$/), expect.stringMatching(/\.2\.1$/)]);
});

test('splits the results of a record into batches within the limits', async () => {
  const { out, runner } = await startThrough([jq('.list[]')]);
  await runner.sink.append([JSON.stringify({ list: numbersUpTo(1_700).map((n) => ({ n })) })]);
  await expect.poll(() => out.numbers).toEqual(numbersUpTo(1_700));
  expect(out.batches.map(({ lines }) => lines.length)).toEqual([500, 500, 500, 200]);
  const ids = out.batches.flatMap((batch) => batch.lines.map((_, index) => batch.recordId(index)));
  expect(new Set(ids).size).toBe(1_700);
  expect(new Set(out.batches.map(({ id }) => id)).size).toBe(4);
});

test('a program that hangs on one record loses only that record and delays no other pipeline', async () => {
  const { world, out, runner } = await startThrough([jq('if .n == 3 then last(range(1e12)) else . end')]);
  await runner.sink.append(numbered(6));
  await expect.poll(() => out.numbers).toEqual([0, 1, 2, 4, 5]);
  expect(await world.deadLetters()).toEqual([expect.objectContaining({ reason: 'jq_timeout', record: { n: 3 } })]);
});

test('a pipeline pauses while its program hangs, without losing records', async () => {
  const { out, runner } = await startThrough([jq('if .n == 1 then last(range(1e12)) else . end')], { grace: 100 });
  await runner.sink.append(numbered(3));
  await runner.pause();
  expect(out.numbers).toEqual([]);
  await runner.resume();
  await expect.poll(() => out.numbers).toEqual([0, 2]);
});

test('pages pass a program in order, to every output', async () => {
  const world = await openWorld();
  const outs = [new Collector(), new Collector()] as const;
  const runner = world.runner({
    definition: graph('in a out out2', 'in>a a>out a>out2'),
    inputs: { in: fast(3_000) },
    outputs: { out: outs[0], out2: outs[1] },
    transforms: { a: { operations: [jq('select(.n % 2 == 0)')] } },
  });
  await runner.start();
  const even = numbersUpTo(3_000).filter((n) => n % 2 === 0);
  for (const out of outs) await expect.poll(() => out.numbers.length).toBe(even.length);
  for (const out of outs) expect(out.numbers).toEqual(even);
});
