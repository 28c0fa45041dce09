import type { Bus, LetterStorage } from '@connector-frame/engine';
import type { Logger } from 'pino';
import type { SharedLeftovers } from '../../store/shared-leftovers.js';

export interface TakeBuffersOptions {
  leftovers: SharedLeftovers;
  bus: Bus;
  log: Logger;
}

export interface TakeSharedOptions extends TakeBuffersOptions {
  lettersOf: (pipelineId: string) => LetterStorage;
}

/** Batches and letters per page. */
const BATCHES = 32;
const LETTERS = 100;

/**
 * Takes over the buffers and dead letters that engines with `ENGINE=shared` have left in the database,
 * before pipelines start.
 */
export async function takeShared(options: TakeSharedOptions): Promise<void> {
  const batches = await takeBuffers(options);
  const letters = await takeLetters(options);
  if (batches > 0 || letters > 0) options.log.info({ batches, letters }, 'shared buffers and dead letters taken over');
}

/**
 * Takes over the buffers. Consumers that were ahead of the slowest one receive some batches again, with
 * the same ids. A stream whose batches do not all fit is continued at the next start. Returns the
 * number of batches.
 */
export async function takeBuffers({ leftovers, bus, log }: TakeBuffersOptions): Promise<number> {
  let batches = 0;
  for (const { id, name, consumers } of await leftovers.streams()) {
    // The pipeline sets the budgets when it starts. Until then, the largest ones apply.
    await bus.declare(
      name,
      consumers.map((each) => ({ name: each, policy: 'spill' })),
    );
    const { moved, isComplete } = await takeStream(leftovers, bus, { id, name });
    batches += moved;
    if (!isComplete) log.error({ stream: name }, 'shared buffer does not fit; the next start continues');
  }
  return batches;
}

async function takeLetters({ leftovers, lettersOf }: TakeSharedOptions): Promise<number> {
  let letters = 0;
  for (const node of await leftovers.letterNodes()) {
    const to = await lettersOf(node.pipelineId).open(node.nodeId);
    for (;;) {
      const page = await leftovers.letters(node, LETTERS);
      const last = page.at(-1);
      if (!last) break;
      await to.add(page);
      await leftovers.deleteLetters(node, last.sequence);
      letters += page.length;
    }
    await leftovers.removeLetters(node);
  }
  return letters;
}

async function takeStream(
  leftovers: SharedLeftovers,
  bus: Bus,
  { id, name }: { id: number; name: string },
): Promise<{ moved: number; isComplete: boolean }> {
  for (let moved = 0; ;) {
    const page = await leftovers.batches(id, BATCHES);
    if (page.length === 0) {
      await leftovers.removeStream(id);
      return { moved, isComplete: true };
    }
    for (const { sequence, batch } of page) {
      if (!(await bus.publish(name, batch)).stored) return { moved, isComplete: false };
      await leftovers.deleteBatches(id, sequence);
      moved += 1;
    }
  }
}
