/**
 * A process that runs two pipelines and prints one line per event: `pushed <n>` once record n of
 * the push pipeline was acknowledged, `cursor <n>` with the start position of the paged one, `idle`
 * when `drain` has finished.
 *
 * Arguments: folder, first number to push, `run` (until it is killed) or `drain`.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEmbeddedBus } from '../../packages/engine/src/bus/embedded/embedded-bus.js';
import { createEmbeddedCoordinator } from '../../packages/engine/src/coordinator/embedded-coordinator.js';
import { createFileStore } from '../../packages/engine/src/coordinator/file-store.js';
import { createFileOutput } from '../../packages/connectors/src/file/file-output.js';
import { createSyntheticInput } from '../../packages/connectors/src/synthetic/synthetic-input.js';
import { isRecord } from '../../packages/engine/src/connector-api/record.js';
import { PipelineRunner } from '../../packages/engine/src/control/pipeline-runner.js';
import type { RunnerOptions } from '../../packages/engine/src/delivery/runner-options.js';

const [folder = '', first = '0', mode = 'run'] = process.argv.slice(2);
// Writes synchronously: buffered output would be lost when the process is killed.
const say = (line: string): void => void writeSync(1, `${line}\n`);

const bus = createEmbeddedBus({ folder: join(folder, 'bus'), segmentBytes: 100_000 });
const coordinator = createEmbeddedCoordinator({ store: createFileStore(join(folder, 'state')) });

const node = (name: string, component_type: 'input' | 'output') =>
  ({ id: name, slug: name, component_id: name, component_type, enabled: true }) as const;

function runner(id: string, input: 'push' | 'pages'): PipelineRunner {
  const edge = { id: 'e', from_node_instance_id: 'in', to_node_instance_id: 'out' };
  const options: RunnerOptions = {
    definition: { id, nodes: [node('in', 'input'), node('out', 'output')], edges: [edge] },
    components: {
      inputs: new Map([
        ['in', input === 'push' ? { kind: 'push' } : createSyntheticInput({ rate: 5_000, shape: (n) => ({ n }) })],
      ]),
      outputs: new Map([['out', createFileOutput({ path: join(folder, `${id}.ndjson`) })]]),
      transforms: new Map(),
    },
    bus,
    coordinator,
    holder: 'worker',
    folder: join(folder, id),
    limits: { reconcile: 100, leaseTtl: 1_000 },
  };
  return new PipelineRunner(options);
}

const lease = await coordinator.acquire('look', 'worker', 60_000);
const cursor = lease && (await coordinator.openCursor(lease, 'pages/in'));
const place = cursor && isRecord(cursor.value) ? cursor.value['next'] : 0;
say(`cursor ${String(typeof place === 'number' ? place : 0)}`);

if (mode === 'drain') await coordinator.setDesired('pages', false);
const pushed = runner('pushed', 'push');
const paged = runner('pages', 'pages');
await pushed.start();
await paged.start();

if (mode === 'drain') {
  while ((await pushed.state()).waiting > 0) await sleep(20);
  await pushed.stop();
  await paged.stop();
  await bus.close();
  say('idle');
} else {
  for (let n = Number(first); ; n += 4) {
    const numbers = [n, n + 1, n + 2, n + 3];
    await Promise.all(
      numbers.map(async (each) => {
        const answer = await pushed.sink.append([JSON.stringify({ n: each })], { position: String(each) });
        if (answer.stored) say(`pushed ${each}`);
      }),
    );
  }
}
