import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEmbeddedBus, createEmbeddedCoordinator, createMemoryStore } from '@connector-frame/engine';
import { UsageMeter } from '../packages/service/dist/usage/usage-meter.js';
import { report } from './lib.mjs';
import { event } from './pipelines.mjs';
import { startRunner } from './start-runner.mjs';

/** Many short ones, because the best of them is the least disturbed by other processes. */
const ROUNDS = 60;
const SHARE = 0.95;
const LOADS = [
  { records: 500, appends: 60 },
  { records: 10, appends: 400 },
  { records: 1, appends: 400 },
];
/** Senders at a time. Their records are stored together. */
const SENDERS = 8;

/** Accepts everything, so that only the journal is measured: the database gets a batch in five seconds. */
const writer = { lastSequence: async () => 0, add: async () => [], touch: async () => undefined };

/** Rate and CPU time of a pipeline with a meter, compared with the same pipeline without one. */
export default async function metering() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-metering-'));
  const bus = createEmbeddedBus({ folder: join(folder, 'bus'), onDamage: console.error });
  const coordinator = createEmbeddedCoordinator({ store: createMemoryStore() });
  const meter = await UsageMeter.open({
    folder: join(folder, 'usage'),
    holder: 'bench',
    writer,
    usage: { days: async () => [] },
    now: Date.now,
    onFailure: (error) => console.error(error),
  });
  const open = (id, metered) => {
    const parts = { organizationId: 'org', pipelineId: id, inputId: 'a' };
    const nodes = new Map([
      ['in', { ...parts, nodeId: 'in', componentType: 'input', componentId: 'a', type: 'monad-http' }],
      ['out', { ...parts, nodeId: 'out', componentType: 'output', componentId: 'b', type: 'dev-null' }],
    ]);
    return startRunner({
      id,
      input: { kind: 'push' },
      folder,
      bus,
      coordinator,
      ...(metered && { meter: meter.of(nodes) }),
    });
  };
  const runners = [await open('metered', true), await open('unmetered', false)];
  try {
    for (const { records, appends } of LOADS) {
      const lines = Array.from({ length: records }, (_, number) => JSON.stringify(event(number)));
      const rounds = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        const results = [];
        // Each of them is the first one in every other round.
        for (const index of round % 2 ? [0, 1] : [1, 0]) results[index] = await through(runners[index], lines, appends);
        await meter.flush();
        // The first round warms up.
        if (round > 0) rounds.push(results);
      }
      const best = (key, choose) => rounds[0].map((_, index) => choose(...rounds.map((pair) => pair[index][key])));
      const [[fast, faster], [cpu, less]] = [best('perSecond', Math.max), best('cpu', Math.min)];
      const rate = fast / faster;
      const told = `${rate.toFixed(2)} of the rate without it, ${(cpu / less).toFixed(2)} of the CPU time (${((cpu - less) / appends).toFixed(1)} \u00b5s an append)`;
      report(`metering, ${records} records an append`, told, `at least ${SHARE}`, rate >= SHARE);
    }
  } finally {
    for (const runner of runners) await runner.stop();
    await bus.close();
    meter.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns records per second from the first append to the last delivery, and CPU time in microseconds. */
async function through(runner, lines, appends) {
  const before = (await runner.state()).egress.records;
  const started = performance.now();
  const cpu = process.cpuUsage();
  let left = appends;
  const send = async () => {
    while (left > 0) {
      left -= 1;
      const { stored } = await runner.sink.append(lines);
      if (!stored) left += 1;
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  while ((await runner.state()).egress.records < before + appends * lines.length) await sleep(5);
  const used = process.cpuUsage(cpu);
  return {
    perSecond: (appends * lines.length * 1_000) / (performance.now() - started),
    cpu: used.user + used.system,
  };
}
