/**
 * A process that publishes to a bus and consumes from it. Prints one line per event:
 *
 * - `stored <id>`, `repeated <id>`, `failed <code> <id>`: results of publishing
 * - `got <id>`: a delivery
 * - `damage <kind>`: a damaged range
 * - `kept <id>`, `dropped <batches>`: in the mode `drain`, what a second consumer with the policy
 *   `drop_newest`, which never reads before, received and did not receive
 * - `lost <records>`: in the mode `drain`, records reported as lost
 * - `drained`: the mode `drain` has finished
 *
 * Arguments: folder, number of the first batch, mode, and address of a NATS server if the bus is in
 * JetStream. Modes: `fill` (publishes and consumes until it is
 * killed), `only-fill` (does not consume) or `drain` (exits when the backlog is empty).
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { createEmbeddedBus } from '../bus/embedded/embedded-bus.js';
import { createJetStreamBus } from '../bus/jetstream/jetstream-bus.js';
import { BusError, type Bus } from '../bus/bus.js';
import { createBatch } from '../connector-api/batch.js';
import { createFileRegistry } from './file-registry.js';

const [folder = '', first = '1', mode = 'fill', url] = process.argv.slice(2);
// Writes synchronously: buffered output would be lost when the process is killed.
const say = (line: string): void => void writeSync(1, `${line}\n`);

const bus: Bus =
  url === undefined
    ? createEmbeddedBus({
        folder,
        segmentBytes: 200_000,
        onDamage: ({ kind }) => say(`damage ${kind}`),
      })
    : await createJetStreamBus({
        nats: { url },
        registry: createFileRegistry(join(folder, 'registry.json')),
        owner: 'test',
        shards: 1,
        purgeBytes: 200_000,
        idleMs: 100,
      });
await bus.declare('s', ['a', { name: 'dead', policy: 'drop_newest', maxBytes: 300_000 }]);

/** Returns the batch with a number, which is the same in every process. */
const numbered = (n: number) =>
  createBatch(
    `b${n}`,
    Array.from({ length: 1 + (n % 20) }, (_, row) => JSON.stringify({ n, row, text: 'x'.repeat((n * 37) % 900) })),
  );

async function publish(n: number): Promise<void> {
  try {
    const result = await bus.publish('s', numbered(n), { waitMs: 10_000 });
    if (result.stored) say(`${result.repeated ? 'repeated' : 'stored'} b${n}`);
  } catch (error) {
    say(`failed ${error instanceof BusError ? error.code : String(error)} b${n}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function fill(): Promise<void> {
  for (let n = Number(first); ; n += 8) await Promise.all(Array.from({ length: 8 }, (_, k) => publish(n + k)));
}

async function empty(consumer: string, word: string): Promise<void> {
  const waiting = async (): Promise<number> => (await bus.stats('s')).consumers[consumer]?.batches ?? 0;
  if (mode === 'drain' && (await waiting()) === 0) return;
  for await (const delivery of bus.consume('s', consumer, new AbortController().signal)) {
    say(`${word} ${delivery.batch.id}`);
    await delivery.ack();
    if (mode === 'drain' && (await waiting()) === 0) break;
  }
}

if (mode === 'drain') {
  await empty('a', 'got');
  await empty('dead', 'kept');
  const { consumers, lost } = await bus.stats('s');
  say(`dropped ${consumers['dead']?.dropped.batches ?? 0}`);
  say(`lost ${lost?.records ?? 0}`);
  await bus.close();
  say('drained');
} else if (mode === 'only-fill') {
  await fill();
} else {
  await Promise.all([fill(), empty('a', 'got')]);
}
