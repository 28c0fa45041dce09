/**
 * Measures the cost of many idle pipelines: startup time, memory, the longest block of the event
 * loop, and idle CPU.
 *
 *     npm run build
 *     node --expose-gc packages/service/scripts/many-pipelines.mjs \
 *       [pipelines, default 10000] [records each has had, default 0]
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadCatalog } from '@connector-frame/catalog';
import { createEgress } from '@connector-frame/engine/egress';
import { bootstrap } from '../dist/bootstrap.js';
import { systemClock } from '../dist/clock.js';
import { readEnv } from '../dist/env.js';
import { createLog } from '../dist/log.js';
import { openCore } from '../dist/open-core.js';
import { openEngine } from '../dist/pipelines/running/open-engine.js';

const count = Number(process.argv[2] ?? 10_000);
const records = Number(process.argv[3] ?? 0);
const folder = await mkdtemp(join(tmpdir(), 'many-'));
const log = createLog('warn');
const core = await openCore(readEnv({ DATA_DIR: folder }), systemClock, log);
const { organizationId } = await bootstrap(
  { store: core.store, secrets: core.vault },
  { organization: 'Northwind', teams: [] },
);

const now = new Date();
const about = { organizationId, name: 'P', description: '', version: 1, createdAt: now, updatedAt: now };
const inputs = Array.from({ length: count }, () => randomUUID());
await core.store.transaction(async (tables) => {
  const output = randomUUID();
  await tables.connectors.insert({ ...about, id: output, kind: 'output', type: 'dev-null', settings: {} });
  for (const input of inputs) {
    await tables.connectors.insert({ ...about, id: input, kind: 'input', type: 'monad-http', settings: {} });
    const [from, to] = [randomUUID(), randomUUID()];
    await tables.pipelines.insert({
      ...about,
      id: randomUUID(),
      enabled: true,
      nodes: [
        { id: from, slug: 'input', component_id: input, component_type: 'input', enabled: true },
        { id: to, slug: 'output', component_id: output, component_type: 'output', enabled: true },
      ],
      edges: [
        { id: randomUUID(), from_node_instance_id: from, to_node_instance_id: to, conditions: { operator: 'always' } },
      ],
    });
  }
});
console.log(`${count} pipelines are in the database`);

const options = {
  folder: join(folder, 'engine'),
  database: core.database,
  tables: core.store,
  vault: core.vault,
  log,
  catalog: loadCatalog(),
  egress: createEgress({ allow: [] }),
};
const memory = () => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss: Math.round(rss / 1e6), heap: Math.round(heapUsed / 1e6), external: Math.round(external / 1e6) };
};
const files = async () => (await readdir('/proc/self/fd').catch(() => [])).length;

async function measure(words) {
  const before = memory();
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  let startedAt = performance.now();
  const spent = process.cpuUsage();
  const engine = await openEngine(options);
  const opened = performance.now() - startedAt;
  await engine.started;
  const started = performance.now() - startedAt;
  const work = process.cpuUsage(spent);
  const blocked = delay.max / 1e6;
  delay.reset();
  const after = memory();
  delay.reset();
  const cpu = process.cpuUsage();
  await sleep(20_000);
  const { user, system } = process.cpuUsage(cpu);
  const idleBlocked = delay.max / 1e6;
  startedAt = performance.now();
  engine.collectMetrics();
  const scraped = performance.now() - startedAt;
  console.log(words, {
    'ms to open': Math.round(opened),
    'ms to begin all': Math.round(started),
    'ms of CPU for it': Math.round((work.user + work.system) / 1e3),
    'longest block, ms': Math.round(blocked),
    'MB before': before,
    'MB after': after,
    'KB each': Math.round(((after.heap - before.heap) * 1e3) / count),
    'idle CPU, % of a core': Math.round(((user + system) / 20e6) * 1e4) / 100,
    'longest block at rest, ms': Math.round(idleBlocked),
    'ms for a scrape': Math.round(scraped),
    'open files': await files(),
  });
  return engine;
}

let engine = await measure('at the first start');
if (records > 0) {
  const lines = Array.from({ length: records }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(200) }));
  const startedAt = performance.now();
  for (let from = 0; from < count; from += 100)
    await Promise.all(inputs.slice(from, from + 100).map((input) => engine.append(input, lines)));
  console.log(`${records} records for each`, {
    ms: Math.round(performance.now() - startedAt),
    MB: memory(),
    'open files': await files(),
  });
  await sleep(30_000);
  console.log('half a minute later', { MB: memory(), 'open files': await files() });
}
const startedAt = performance.now();
await engine.close();
console.log('closed', { ms: Math.round(performance.now() - startedAt), MB: memory() });
engine = await measure('at the next start');
await engine.close();
await core.store.close();
await rm(folder, { recursive: true, force: true });
