/**
 * Pushes records through a pipeline for a long time and prints the memory usage, which should not
 * grow:
 *
 *     npm run build && node packages/connectors/scripts/soak.mjs [records]
 *
 * Runs once to `dev-null` and once through jq to a file, with 1,000,000 records each by default.
 * Fails if the heap after a collection, or the resident set size, is more than 24 MiB larger in the
 * last quarter than in the second. The first quarter is warm-up.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createDevNullOutput, createFileOutput } from '@connector-frame/connectors';
import {
  createEmbeddedBus,
  createEmbeddedCoordinator,
  createMemoryStore,
  PipelineRunner,
} from '@connector-frame/engine';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc');

const MEBIBYTE = 1024 * 1024;
const ROOM = 24;
const total = Number(process.argv[2] ?? 1_000_000);
const PUSH = 500;
const SAMPLES = 20;

const node = (id, type) => ({ id, slug: id, component_id: id, component_type: type, enabled: true });
const edge = (from, to) => ({ id: `${from}-${to}`, from_node_instance_id: from, to_node_instance_id: to });
const jq = { operation: 'jq', arguments: { query: '{n, at, user: .actor.email, message, list: (.list | length)}' } };

const inFolder = (name) => ({ path: join(folder, name), maxBytes: 16 * MEBIBYTE, keepFiles: 2 });
const folder = await mkdtemp(join(tmpdir(), 'soak-'));
let failed = false;
try {
  await soak('to dev-null', createDevNullOutput(), undefined);
  await soak('over jq to a file', createFileOutput(inFolder('events.ndjson')), { operations: [jq] });
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

async function soak(name, output, transform) {
  const id = transform ? 'with-jq' : 'plain';
  const nodes = [node('in', 'input'), node('out', 'output'), ...(transform ? [node('change', 'transform')] : [])];
  const edges = transform ? [edge('in', 'change'), edge('change', 'out')] : [edge('in', 'out')];
  const bus = createEmbeddedBus({ folder: join(folder, id, 'bus') });
  const runner = new PipelineRunner({
    definition: { id, nodes, edges },
    components: {
      inputs: new Map([['in', { kind: 'push' }]]),
      outputs: new Map([['out', output]]),
      transforms: new Map(transform ? [['change', transform]] : []),
    },
    bus,
    coordinator: createEmbeddedCoordinator({ store: createMemoryStore() }),
    holder: 'soak',
    folder: join(folder, id, 'pipeline'),
  });
  await runner.start();
  console.log(`\n${total} records ${name}\n   records   seconds   heap MiB   rss MiB`);
  const began = performance.now();
  const samples = [];
  const every = Math.max(PUSH, Math.ceil(total / SAMPLES / PUSH) * PUSH);
  for (let sent = 0; sent < total;) {
    const appended = await runner.sink.append(Array.from({ length: PUSH }, (_, index) => line(sent + index)));
    if (!appended.stored) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    sent += PUSH;
    if (sent % every === 0) {
      await written(runner, sent);
      samples.push(sample(sent, began));
    }
  }
  await written(runner, total);
  const seconds = (performance.now() - began) / 1_000;
  console.log(`${Math.round(total / seconds)} records a second, collections and samples included`);
  await runner.stop();
  await bus.close();
  judge(samples);
}

function line(n) {
  return JSON.stringify({
    n,
    at: new Date(1_767_225_600_000 + n).toISOString(),
    actor: { id: n % 1_000, email: `user${n % 1_000}@example.com` },
    message: `Something happened for the ${n}th time, and somebody wrote it down at some length.`,
    list: [n, n + 1, n + 2],
  });
}

/** Resolves once the output has written `count` records. */
async function written(runner, count) {
  for (;;) {
    const { nodes, errors } = await runner.state();
    if (errors > 0) throw new Error(`${errors} records were refused.`);
    if ((nodes.find(({ node_id: id }) => id === 'out')?.egress.records ?? 0) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function sample(sent, began) {
  collect();
  const { heapUsed, rss } = process.memoryUsage();
  const [heap, all] = [heapUsed / MEBIBYTE, rss / MEBIBYTE];
  const columns = [sent, ((performance.now() - began) / 1_000).toFixed(1), heap.toFixed(1), all.toFixed(0)];
  console.log(columns.map((column) => String(column).padStart(10)).join(''));
  return { heap, rss: all };
}

function judge(samples) {
  const mean = (from, to, what) => {
    const part = samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to));
    return part.reduce((sum, each) => sum + each[what], 0) / part.length;
  };
  for (const what of ['heap', 'rss']) {
    const grown = mean(0.75, 1, what) - mean(0.25, 0.5, what);
    console.log(`${what}: ${grown >= 0 ? '+' : ''}${grown.toFixed(1)} MiB from the second quarter to the last`);
    if (grown <= ROOM) continue;
    console.error(`FAILED: ${what} grows.`);
    failed = true;
  }
}
