import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { deadOutput, graph, numbered, openWorld } from '../testing/pipeline-fixture.js';

test.each([
  ['with a position', { position: 'page-1' }],
  ['without a position', {}],
])('a stop waits for records %s that are being stored', async (_, options) => {
  const world = await openWorld();
  const { bus } = world;
  const stored: string[] = [];
  const publish = bus.publish.bind(bus);
  vi.spyOn(bus, 'publish').mockImplementation(async (...args) => {
    await sleep(400);
    return publish(...args);
  });
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: { in: { kind: 'push' } },
    outputs: { out: deadOutput() },
  });
  await runner.start();
  const appending = runner.sink.append(numbered(3), options).then(() => stored.push('appended'));
  const stopping = runner.stop().then(() => stored.push('stopped'));
  await Promise.all([appending, stopping]);
  expect(stored).toEqual(['appended', 'stopped']);
});
