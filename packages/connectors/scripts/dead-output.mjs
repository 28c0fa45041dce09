/**
 * Pushes records through a pipeline with a healthy output, alone and beside one that is down, for
 * each overflow policy, and prints how many records were accepted and delivered:
 *
 *     npm run build && node packages/connectors/scripts/dead-output.mjs [records]
 *
 * With 200,000 records of 1 KB by default, and a budget of 32 MiB for each output. Fails if a
 * record that was accepted neither arrives nor is counted as dropped.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ConnectorError,
  createEmbeddedBus,
  createEmbeddedCoordinator,
  createMemoryStore,
  PipelineRunner,
  WRITTEN,
} from '@connector-frame/engine';

const MEBIBYTE = 1024 * 1024;
const total = Number(process.argv[2] ?? 200_000);
const PUSH = 500;
const TEXT = 'x'.repeat(1_000);

const node = (id, type) => ({ id, slug: id, component_id: id, component_type: type, enabled: true });
const edge = (to, rest = {}) => ({ id: to, from_node_instance_id: 'in', to_node_instance_id: to, ...rest });

const folder = await mkdtemp(join(tmpdir(), 'dead-output-'));
let failed = false;
try {
  await measure('healthy output alone', []);
  for (const policy of ['drop_newest', 'spill', 'block'])
    await measure(`beside a dead one: ${policy}`, [edge('dead', { overflow: { policy } })]);
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

async function measure(name, more) {
  const id = name.replaceAll(/\W+/g, '-');
  const got = { healthy: 0, dead: 0 };
  let isDown = true;
  const healthy = { write: async ({ lines }) => ((got.healthy += lines.length), WRITTEN) };
  const dead = {
    write: async ({ lines }) => {
      if (isDown) throw new ConnectorError('down', 'The destination does not respond.');
      got.dead += lines.length;
      return WRITTEN;
    },
  };
  const bus = createEmbeddedBus({ folder: join(folder, id, 'bus'), maxBytes: 32 * MEBIBYTE });
  const runner = new PipelineRunner({
    definition: {
      id,
      nodes: [node('in', 'input'), node('healthy', 'output'), ...(more.length > 0 ? [node('dead', 'output')] : [])],
      edges: [edge('healthy'), ...more],
    },
    components: {
      inputs: new Map([['in', { kind: 'push' }]]),
      outputs: new Map([
        ['healthy', healthy],
        ['dead', dead],
      ]),
      transforms: new Map(),
    },
    bus,
    coordinator: createEmbeddedCoordinator({ store: createMemoryStore() }),
    holder: 'worker',
    folder: join(folder, id, 'pipeline'),
    limits: { retryCap: 100 },
  });
  await runner.start();
  const began = performance.now();
  const cpu = process.cpuUsage();
  let accepted = 0;
  for (let from = 0; from < total; from += PUSH) {
    const lines = Array.from({ length: PUSH }, (_, n) => JSON.stringify({ n: from + n, text: TEXT }));
    if (!(await runner.sink.append(lines)).stored) break;
    accepted += PUSH;
  }
  while (got.healthy < accepted) await sleep(5);
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  isDown = false;
  const waiting = async () => (await runner.state()).waiting;
  while ((await waiting()) > 0) await sleep(20);
  const { dropped } = await runner.state();
  await runner.stop();
  await bus.close();
  const isComplete = got.healthy === accepted && (more.length === 0 || got.dead + dropped === accepted);
  failed ||= !isComplete;
  const rate = Math.round(accepted / seconds).toLocaleString('en');
  const each = ((user + system) / accepted).toFixed(1);
  console.log(
    `${name.padEnd(34)} accepted ${accepted}, ${rate} records/s, ${each} µs CPU each; dead got ${got.dead}, dropped ${dropped}`,
  );
}
