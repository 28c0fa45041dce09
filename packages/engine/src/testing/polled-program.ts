/**
 * A process that runs a polled pipeline with two outputs, which append the numbers they receive to
 * `healthy.txt` and `slow.txt`. In the mode `run`, the slow one fails until the process is killed;
 * in the mode `drain`, the input has no more pages, and both outputs write what is left. Prints
 * `cursor <n>` with the position of the input, and `idle` when `drain` has finished.
 *
 * Arguments: folder, `run` or `drain`.
 */
import { appendFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEmbeddedBus } from '../bus/embedded/embedded-bus.js';
import { ConnectorError, WRITTEN, type Output, type PageInput } from '../connector-api/index.js';
import { PipelineRunner } from '../control/pipeline-runner.js';
import { createEmbeddedCoordinator } from '../coordinator/embedded-coordinator.js';
import { createFileStore } from '../coordinator/file-store.js';

const [folder = '', mode = 'run'] = process.argv.slice(2);
/** Records per page. */
const PAGE = 10;
// Writes synchronously: buffered output would be lost when the process is killed.
const say = (line: string): void => void writeSync(1, `${line}\n`);

const input: PageInput = {
  kind: 'pages',
  intervalMs: 1,
  async *pages(cursor = 0) {
    const from = Number(cursor);
    say(`cursor ${from}`);
    if (mode === 'run')
      yield { records: Array.from({ length: PAGE }, (_, index) => ({ n: from + index })), cursor: from + PAGE };
  },
};

const fileOutput = (name: string): Output => ({
  write: ({ records }) => {
    if (name === 'slow' && mode === 'run') throw new ConnectorError('down', 'The destination does not respond.');
    appendFileSync(join(folder, `${name}.txt`), records.map(({ n }) => `${Number(n)}\n`).join(''));
    return Promise.resolve(WRITTEN);
  },
});

const bus = createEmbeddedBus({ folder: join(folder, 'bus'), segmentBytes: 50_000 });
const names = ['healthy', 'slow'];
const runner = new PipelineRunner({
  definition: {
    id: 'p',
    nodes: ['in', ...names].map((id) => ({
      id,
      slug: id,
      component_id: id,
      component_type: id === 'in' ? 'input' : 'output',
      enabled: true,
    })),
    edges: names.map((id) => ({ id, from_node_instance_id: 'in', to_node_instance_id: id })),
  },
  components: {
    inputs: new Map([['in', input]]),
    outputs: new Map(names.map((name) => [name, fileOutput(name)])),
    transforms: new Map(),
  },
  bus,
  coordinator: createEmbeddedCoordinator({ store: createFileStore(join(folder, 'state')) }),
  holder: 'worker',
  folder: join(folder, 'p'),
  limits: { reconcile: 50, leaseTtl: 1_000, retryCap: 50 },
});
await runner.start();
if (mode === 'drain') {
  // The first report of a new run may be from before it has read anything.
  while ((await runner.state()).status !== 'Running' || (await runner.state()).waiting > 0) await sleep(10);
  await runner.stop();
  await bus.close();
  say('idle');
}
