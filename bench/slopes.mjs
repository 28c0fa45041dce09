import { fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { createEngineState } from '../packages/service/dist/store/engine-state.js';
import { postgresDatabase } from '../packages/service/dist/store/database.js';
import { measureTopology } from './measure-topology.mjs';
import { startProcess } from './pipelines.mjs';
import { measurePolling } from './polling.mjs';
import { commonSlopes, slopesOf } from './slope-list.mjs';
import { syncRate } from './sync-rate.mjs';
import { startTopology } from './topology.mjs';

/** File of the slopes. `scripts/lib/simulate` reads it. */
export const SLOPES = new URL('slopes.json', import.meta.url);

/** What storing the cursor of a polled input costs, in milliseconds of CPU. */
async function measureCursor() {
  const topology = await startTopology('postgres');
  try {
    const database = postgresDatabase({ connectionString: topology.databaseUrl }, () => undefined);
    const state = createEngineState(database.queries);
    const set = async (from, to) => {
      for (let number = from; number < to; number += 1)
        await state.compareAndSet(`cursor:bench-${number % 100}/`, Math.floor(number / 100), { at: number });
    };
    await set(0, 100);
    const [cpu, own] = [await topology.cpu(), process.cpuUsage()];
    await set(100, 2_100);
    const used = process.cpuUsage(own);
    const after = await topology.cpu();
    await database.close();
    return { service: (used.user + used.system) / 1_000 / 2_000, database: (after.database - cpu.database) / 2_000 };
  } finally {
    await topology.close();
  }
}

/** Describes the machine as far as it decides about the slopes. */
function machine() {
  const [{ model }] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return {
    cores: cpus().length,
    cpu: model.trim(),
    memory_gib: memory,
    platform: process.platform,
    node: process.versions.node,
  };
}

/** All that can be measured: five topologies, and what does not depend on one. */
export const MEASURED = ['disk', 'cursor', 'polling', 'embedded', 'postgres', 'nats', 'shared', 'shared-nats'];

/**
 * Measures, and writes the file of the slopes.
 * @param names of `MEASURED`; the file keeps the slopes of the others
 * @param log receives what was measured, as it comes
 */
export async function measureSlopes(names, log) {
  const load = fork(new URL('load.mjs', import.meta.url));
  const receiver = await startProcess('receiver.mjs');
  try {
    store(commonSlopes({ heapLimit: getHeapStatistics().heap_size_limit }));
    for (const name of names) {
      if (name === 'disk') store(commonSlopes({ syncs: await syncRate() }));
      else if (name === 'cursor') store(commonSlopes({ cursor: await measureCursor() }));
      else if (name === 'polling') store(commonSlopes({ polling: await measurePolling() }));
      else {
        const result = await measureTopology(name, {
          load,
          receiver,
          log: (what, found) => log(`${name}: ${what}`, found),
        });
        const { bytesPerRow, server } = result;
        store({ ...slopesOf(name, result), ...commonSlopes({ bytesPerRow, server }) }, `${name}.`);
      }
    }
  } finally {
    load.kill();
    await receiver.stop();
  }
}

/** Adds slopes to the file, instead of those whose names begin with `prefix`. */
function store(found, prefix) {
  const stored = existsSync(SLOPES) ? Object.entries(JSON.parse(readFileSync(SLOPES, 'utf8')).slopes) : [];
  const kept = stored.filter(([id]) => prefix === undefined || !id.startsWith(prefix));
  const all = Object.entries({ ...Object.fromEntries(kept), ...found }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(SLOPES, `${JSON.stringify({ machine: machine(), slopes: Object.fromEntries(all) }, rounded, 2)}\n`);
}

/** Three significant digits are more than a measurement has. */
const rounded = (_key, value) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(3)) : value;
