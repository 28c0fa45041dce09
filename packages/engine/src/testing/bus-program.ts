/**
 * A process that publishes to a bus and consumes from it. Prints one line per event:
 *
 * - `stored <id>`, `repeated <id>`, `failed <code> <id>`: results of publishing
 * - `got <id>`: a delivery
 * - `damage <kind>`: a damaged range
 * - `drained`: the mode `drain` has finished
 *
 * Arguments: folder, number of the first batch, mode: `fill` (publishes and consumes until it is
 * killed), `only-fill` (does not consume) or `drain` (exits when the backlog is empty).
 */
import { writeSync } from 'node:fs';
import { createEmbeddedBus } from '../bus/embedded/embedded-bus.js';
import { BusError } from '../bus/bus.js';
import { createBatch } from '../connector-api/batch.js';

const [folder = '', first = '1', mode = 'fill'] = process.argv.slice(2);
// Writes synchronously: buffered output would be lost when the process is killed.
const say = (line: string): void => void writeSync(1, `${line}\n`);

const bus = createEmbeddedBus({ folder, segmentBytes: 200_000, onDamage: ({ kind }) => say(`damage ${kind}`) });
await bus.declare('s', ['a']);

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

async function empty(): Promise<void> {
  for await (const delivery of bus.consume('s', 'a', new AbortController().signal)) {
    say(`got ${delivery.batch.id}`);
    await delivery.ack();
    if (mode === 'drain' && (await bus.stats('s')).batches === 0) break;
  }
}

if (mode === 'drain') {
  if ((await bus.stats('s')).batches > 0) await empty();
  await bus.close();
  say('drained');
} else if (mode === 'only-fill') {
  await fill();
} else {
  await Promise.all([fill(), empty()]);
}
