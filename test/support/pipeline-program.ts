/**
 * A process that runs two pipelines and prints one line per event: `pushed <n>` once record n of
 * the push pipeline was acknowledged, `cursor <n>` with the start position of the paged one, `idle`
 * when `drain` has finished.
 *
 * Arguments: folder, first number to push, `run` (until it is killed) or `drain`, number of writes
 * at a time, records of each (0: one stored batch).
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEmbeddedBus } from '../../packages/engine/src/bus/embedded/embedded-bus.js';
import { createEmbeddedCoordinator } from '../../packages/engine/src/coordinator/embedded-coordinator.js';
import { createFileStore } from '../../packages/engine/src/coordinator/file-store.js';
import { createFileOutput } from '../../packages/connectors/src/file/file-output.js';
import { createSyntheticInput } from '../../packages/connectors/src/synthetic/synthetic-input.js';
import type { Output } from '../../packages/engine/src/connector-api/output.js';
import { isRecord } from '../../packages/engine/src/connector-api/record.js';
import { PipelineRunner } from '../../packages/engine/src/control/pipeline-runner.js';
import type { RunnerOptions } from '../../packages/engine/src/delivery/runner-options.js';

const [folder = '', first = '0', mode = 'run', writes = '1', records = '0'] = process.argv.slice(2);
// Writes synchronously: buffered output would be lost when the process is killed.
const say = (line: string): void => void writeSync(1, `${line}\n`);

const bus = createEmbeddedBus({ folder: join(folder, 'bus'), segmentBytes: 100_000 });
const coordinator = createEmbeddedCoordinator({ store: createFileStore(join(folder, 'state')) });

/** Writes to a file: stored batches in order, or several joined ones at a time, at random speed. */
function outputTo(path: string): Output {
  const file = createFileOutput({ path });
  if (records === '0') return file;
  return {
    batching: { records: Number(records), bytes: 100_000, waitMs: 5 },
    ordering: 'none',
    maxConcurrency: Number(writes),
    async write(batch, signal) {
      await sleep(Math.random() * 20);
      return file.write(batch, signal);
    },
  };
}

const node = (name: string, component_type: 'input' | 'output') =>
  ({ id: name, slug: name, component_id: name, component_type, enabled: true }) as const;

function runner(id: string, input: 'push' | 'pages'): PipelineRunner {
  const edge = { id: 'e', from_node_instance_id: 'in', to_node_instance_id: 'out' };
  const synthetic = createSyntheticInput({ rate: 5_000, shape: (n) => ({ n }) });
  const options: RunnerOptions = {
    definition: { id, nodes: [node('in', 'input'), node('out', 'output')], edges: [edge] },
    components: {
      inputs: new Map([['in', input === 'push' ? { kind: 'push' } : synthetic]]),
      outputs: new Map([['out', outputTo(join(folder, `${id}.ndjson`))]]),
      transforms: new Map(),
    },
    bus,
    coordinator,
    holder: 'worker',
    folder: join(folder, id),
    // A shorter lease can expire on a busy machine; then more records come twice.
    limits: { reconcile: 100, leaseTtl: 30_000 },
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
