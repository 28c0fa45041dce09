import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codes, push } from '../../../../test/support/pipeline-parts.js';
import type { Sink } from '../connector-api/index.js';
import type { Overflow, PipelineDefinition } from '../pipeline/definition.js';
import { Collector, deadOutput, graph, numbersUpTo, openWorld } from '../testing/pipeline-fixture.js';

const GRAPH = graph('in o-healthy o-dead', 'in>o-healthy in>o-dead');
const COUNT = 300;
const TEXT = 'x'.repeat(1_000);
/** Lines of 1 KB; the bus of these tests holds a hundred of them for each output. */
const lines = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => JSON.stringify({ n: from + index, text: TEXT }));

const withOverflow = (definition: PipelineDefinition, overflow: Overflow): PipelineDefinition => ({
  ...definition,
  edges: definition.edges.map((edge) => (edge.to_node_instance_id === 'o-dead' ? { ...edge, overflow } : edge)),
});

/** Sends records one by one until one is rejected; returns how many were accepted. */
async function send(sink: Sink, from = 0, count = COUNT): Promise<number> {
  for (let n = from; n < from + count; n += 1) if (!(await sink.append(lines(n, 1))).stored) return n - from;
  return count;
}

describe('with an output that does not respond', () => {
  test('and drop_newest, the other output receives everything, and what is dropped is counted', async () => {
    const world = await openWorld(120_000);
    const [healthy, dead] = [new Collector(), deadOutput()];
    const parts = {
      definition: withOverflow(GRAPH, { policy: 'drop_newest' }),
      inputs: { in: push },
      outputs: { 'o-healthy': healthy, 'o-dead': dead },
    };
    let runner = world.runner(parts);
    await runner.start();
    expect(await send(runner.sink)).toBe(COUNT);
    await expect.poll(() => healthy.numbers.length).toBe(COUNT);
    expect(healthy.numbers).toEqual(numbersUpTo(COUNT));
    await expect.poll(() => codes(runner)).toContain('output_overflow');
    const { status, dropped, nodes } = await runner.state();
    const kept = COUNT - dropped;
    expect(kept).toBeGreaterThan(50);
    expect(kept).toBeLessThan(120);
    expect(nodes.map((node) => [node.node_id, node.dropped])).toEqual([
      ['in', 0],
      ['o-healthy', 0],
      ['o-dead', dropped],
    ]);
    expect(status).toBe('Erroring');
    expect(runner.losses).toEqual({ dropped, lost: 0 });

    // The count survives a restart, and counts as old there.
    await runner.stop();
    runner = world.runner(parts);
    await runner.start();
    expect(await runner.state()).toMatchObject({ dropped });
    expect(runner.losses).toEqual({ dropped: 0, lost: 0 });
    dead.recover();
    await expect.poll(() => dead.numbers.length).toBe(kept);
    expect(dead.numbers).toEqual(numbersUpTo(kept));
    expect(await send(runner.sink, COUNT, 10)).toBe(10);
    await expect.poll(() => dead.numbers.length).toBe(kept + 10);
    expect(dead.numbers.slice(-10)).toEqual(numbersUpTo(COUNT + 10).slice(-10));
    await expect.poll(() => runner.state()).toMatchObject({ dropped, waiting: 0, lost: null });
  });

  test('each episode of dropping is logged once, with the number of records at its end', async () => {
    const world = await openWorld(120_000);
    const dead = deadOutput();
    const runner = world.runner({
      definition: withOverflow(GRAPH, { policy: 'drop_newest' }),
      inputs: { in: push },
      outputs: { 'o-healthy': new Collector(), 'o-dead': dead },
      // Few failures, so that the log keeps all entries.
      limits: { retryCap: 1_000 },
    });
    await runner.start();
    await send(runner.sink);
    await expect.poll(() => codes(runner)).toContain('output_overflow');
    await send(runner.sink);
    dead.recover();
    await expect.poll(() => codes(runner)).toContain('output_overflow_ended');
    const logged = runner.log.entries().filter(({ code }) => code.startsWith('output_overflow'));
    expect(logged.map(({ code, nodeId }) => [code, nodeId])).toEqual([
      ['output_overflow', 'o-dead'],
      ['output_overflow_ended', 'o-dead'],
    ]);
    expect(logged[1]?.message).toContain(`${(await runner.state()).dropped} records`);
  });

  test.each([undefined, { policy: 'block' }] as const)('and %j, new records are rejected', async (overflow) => {
    const world = await openWorld(120_000);
    const [healthy, dead] = [new Collector(), deadOutput()];
    const runner = world.runner({
      definition: overflow ? withOverflow(GRAPH, overflow) : GRAPH,
      inputs: { in: push },
      outputs: { 'o-healthy': healthy, 'o-dead': dead },
    });
    await runner.start();
    const accepted = await send(runner.sink);
    expect(accepted).toBeLessThan(120);
    dead.recover();
    await expect.poll(() => dead.numbers.length).toBe(accepted);
    expect(await send(runner.sink, accepted, 10)).toBe(10);
    await expect.poll(() => healthy.numbers).toEqual(numbersUpTo(accepted + 10));
    expect((await runner.state()).dropped).toBe(0);
  });

  test('and spill, more records are accepted than the other outputs may hold', async () => {
    const world = await openWorld(120_000);
    const [healthy, dead] = [new Collector(), deadOutput()];
    const runner = world.runner({
      definition: withOverflow(GRAPH, { policy: 'spill' }),
      inputs: { in: push },
      outputs: { 'o-healthy': healthy, 'o-dead': dead },
    });
    await runner.start();
    expect(await send(runner.sink)).toBe(COUNT);
    dead.recover();
    await expect.poll(() => dead.numbers.length).toBe(COUNT);
    expect((await runner.state()).dropped).toBe(0);
  });
});

test('records in a buffer file that is missing are counted as lost, also after a restart', async () => {
  const world = await openWorld(2_000_000);
  const [healthy, dead] = [new Collector(), deadOutput()];
  const parts = {
    definition: GRAPH,
    inputs: { in: push },
    outputs: { 'o-healthy': healthy, 'o-dead': dead },
  };
  let runner = world.runner(parts);
  await runner.start();
  await send(runner.sink, 0, 500);
  await expect.poll(() => healthy.numbers.length).toBe(500);
  await runner.stop();
  await world.bus.close();
  const folder = join(world.folder, 'bus', 'p.in');
  const [, second = ''] = (await readdir(folder)).filter((name) => name.endsWith('.seg')).sort();
  await rm(join(folder, second));

  world.reopen();
  runner = world.runner(parts);
  await runner.start();
  expect((await runner.state()).lost).toBeNull();
  dead.recover();
  await expect.poll(async () => (await runner.state()).waiting).toBe(0);
  const lost = 500 - dead.numbers.length;
  expect(lost).toBeGreaterThan(50);
  const state = await runner.state();
  expect(state.lost).toMatchObject({ node_id: 'in', records: lost, exact: true });
  expect(runner.losses).toEqual({ dropped: 0, lost });
  await expect.poll(() => codes(runner)).toContain('records_lost');
  expect(runner.log.entries().find(({ code }) => code === 'records_lost')).toMatchObject({
    level: 'error',
    nodeId: 'in',
    message: expect.stringContaining(`${lost} stored records are lost`),
  });
  await runner.stop();

  await world.bus.close();
  world.reopen();
  runner = world.runner(parts);
  await runner.start();
  expect((await runner.state()).lost).toEqual(state.lost);
  expect(runner.losses.lost).toBe(0);
});
