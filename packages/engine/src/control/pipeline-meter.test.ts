import { expect, test } from 'vitest';
import type { Meter } from '../pipeline/meter.js';
import { Collector, deadOutput, graph, numbered, openWorld } from '../testing/pipeline-fixture.js';
import { above, fast, push } from '../../../../test/support/pipeline-parts.js';

/** Sums metered amounts by node and kind. */
function recording(): { meter: Meter; sums: Record<string, [records: number, bytes: number]> } {
  const sums: Record<string, [number, number]> = {};
  const add = (key: string, records: number, bytes: number): void => {
    const [before, size] = sums[key] ?? [0, 0];
    sums[key] = [before + records, size + bytes];
  };
  const meter: Meter = {
    add: (nodeId, direction, records, bytes) => add(`${nodeId} ${direction}`, records, bytes),
    addErrors: (nodeId, records) => add(`${nodeId} errors`, records, 0),
    addUnfiltered: (nodeId, records, bytes) => add(`${nodeId} unfiltered`, records, bytes),
  };
  return { meter, sums };
}

const bytesOf = (lines: readonly string[]): number => lines.join('').length;

test.each([
  ['one output', 'in drop out', 'in>drop drop>out', ['out']],
  ['two outputs, over the buffer', 'in drop out out2', 'in>drop drop>out in>out2', ['out', 'out2']],
])('a meter receives what the pipeline counts, and what outputs had before filters, with %s', async (...given) => {
  const [, nodes, edges, outputIds] = given;
  const world = await openWorld();
  const { meter, sums } = recording();
  const outputs = Object.fromEntries(outputIds.map((id) => [id, new Collector()]));
  const runner = world.runner({
    definition: graph(nodes, edges, { 'in>drop': above(39) }),
    inputs: { in: fast(100) },
    outputs,
    transforms: { drop: { operations: [{ operation: 'add', arguments: { key: 'tag', value: true } }] } },
    meter,
  });
  await runner.start();
  await expect.poll(() => sums['out unfiltered']?.[0]).toBe(100);
  await expect.poll(() => sums['in ingress']?.[0]).toBe(100);
  await expect.poll(async () => (await runner.state()).waiting).toBe(0);
  const all = bytesOf(numbered(100));
  const tagged = numbered(60, 40).map((line) => line.replace('}', ',"tag":true}'));
  expect(sums['in ingress']).toEqual([100, all]);
  expect(sums['drop ingress']).toEqual([60, bytesOf(numbered(60, 40))]);
  expect(sums['out egress']).toEqual([60, bytesOf(tagged)]);
  for (const id of outputIds) expect([id, sums[`${id} unfiltered`]]).toEqual([id, [100, all]]);
  for (const { node_id: id, ingress, egress } of (await runner.state()).nodes) {
    expect([id, sums[`${id} ingress`]]).toEqual([id, [ingress.records, ingress.bytes]]);
    expect([id, sums[`${id} egress`]]).toEqual([id, [egress.records, egress.bytes]]);
  }
});

test('retries are not metered, records that an output refuses are errors', async () => {
  const world = await openWorld();
  const { meter, sums } = recording();
  const out = deadOutput();
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: push }, outputs: { out }, meter });
  await runner.start();
  await runner.sink.append(numbered(10));
  await expect.poll(async () => (await runner.state()).last_error?.code).toBe('down');
  expect(sums).toEqual({
    'in ingress': [10, bytesOf(numbered(10))],
    'in egress': [10, bytesOf(numbered(10))],
    'out ingress': [10, bytesOf(numbered(10))],
  });
  out.recover();
  await expect.poll(() => sums['out unfiltered']).toEqual([10, bytesOf(numbered(10))]);
  expect(sums['out egress']).toEqual([10, bytesOf(numbered(10))]);
  out.respond = (batch) => ({ rejected: batch.lines.slice(1).map((_, n) => ({ index: n + 1, reason: 'wrong' })) });
  await runner.sink.append(numbered(5));
  await expect.poll(() => sums['out errors']).toEqual([4, 0]);
  expect(sums['out unfiltered']).toEqual([15, bytesOf(numbered(10)) + bytesOf(numbered(5))]);
  expect(sums['out egress']).toEqual([11, bytesOf(numbered(10)) + bytesOf(numbered(1))]);
});
