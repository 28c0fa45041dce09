import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createEmbeddedBus, type Bus } from '@connector-frame/engine';
import type { Logger } from 'pino';

export interface MoveOptions {
  /** Folder of the embedded bus. */
  folder: string;
  names: readonly string[];
  to: Bus;
  /** Where they are moved to, for the log. */
  target: string;
  log: Logger;
}

/**
 * Moves the batches of an embedded bus to another bus, before pipelines start. Consumers that were
 * ahead of the slowest one receive some batches again, with the same ids. A stream whose batches do
 * not all fit is kept, and continued at the next start.
 */
export async function moveBuffers({ folder, names, to, target, log }: MoveOptions): Promise<void> {
  const from = createEmbeddedBus({
    folder,
    onDamage: (damage) => log.error({ ...damage }, 'buffer damaged'),
  });
  let batches = 0;
  try {
    for (const name of names) {
      const consumers = await consumersIn(join(folder, name, 'positions'));
      await from.declare(name, consumers);
      const moved = await moveStream(from, to, name, consumers);
      batches += moved.batches;
      if (moved.isComplete) await from.remove(name);
      else log.error({ stream: name, target }, 'buffer in DATA_DIR does not fit; the next start continues');
    }
  } finally {
    await from.close();
  }
  if (batches > 0) log.info({ batches, target }, 'buffers moved from DATA_DIR');
}

async function moveStream(
  from: Bus,
  to: Bus,
  name: string,
  consumers: readonly string[],
): Promise<{ batches: number; isComplete: boolean }> {
  const { consumers: stats } = await from.stats(name);
  const [slowest] = Object.entries(stats).sort(([, a], [, b]) => b.batches - a.batches);
  let left = slowest?.[1].batches ?? 0;
  if (!slowest || left === 0) return { batches: 0, isComplete: true };
  // The pipeline sets the budgets when it starts. Until then, the largest ones apply.
  await to.declare(
    name,
    consumers.map((each) => ({ name: each, policy: 'spill' })),
  );
  const done = new AbortController();
  let batches = 0;
  for await (const delivery of from.consume(name, slowest[0], done.signal)) {
    const published = await to.publish(name, delivery.batch);
    if (!published.stored) return { batches, isComplete: false };
    await delivery.ack();
    batches += 1;
    left -= 1;
    if (left === 0) done.abort();
  }
  return { batches, isComplete: true };
}

/** Returns the consumers that have a position. */
async function consumersIn(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(() => []);
  return files.filter((file) => file.endsWith('.pos')).map((file) => file.slice(0, -'.pos'.length));
}
