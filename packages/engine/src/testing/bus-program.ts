/**
 * A process that fills a bus and empties it, and says so on its output, one line each:
 * `stored <id>`, `repeated <id>`, `failed <code> <id>`, `got <id>`, `damage <kind>`, `drained`.
 *
 * Arguments: folder, number of the first batch, `fill` (until it is killed) or `drain` (ends when nothing is left).
 */
import { writeSync } from 'node:fs';
import { createEmbeddedBus } from '../bus/embedded/embedded-bus.js';
import { BusError } from '../bus/bus.js';
import { createBatch } from '../records/batch.js';

const [folder = '', first = '1', mode = 'fill'] = process.argv.slice(2);
// At once: what waits in the process when it is killed would be lost.
const say = (line: string): void => void writeSync(1, `${line}\n`);

const bus = createEmbeddedBus({ folder, segmentBytes: 200_000, onDamage: ({ kind }) => say(`damage ${kind}`) });
await bus.declare('s', ['a']);

/** The batch with a number is the same in every process. */
const numbered = (n: number) =>
  createBatch(
    `b${n}`,
    Array.from({ length: 1 + (n % 20) }, (_, row) => JSON.stringify({ n, row, text: 'x'.repeat((n * 37) % 900) })),
  );

async function publish(n: number): Promise<void> {
  try {
    const answer = await bus.publish('s', numbered(n), { waitMs: 10_000 });
    if (answer.stored) say(`${answer.repeated ? 'repeated' : 'stored'} b${n}`);
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
