import { batchId, createBatch, type Batch } from '../records/batch.js';
import type { DeadLetter } from './dead-letters.js';
import { again, bury, deliver, type Work } from './deliver.js';
import { EndError, failureOf, type Output } from './ends.js';
import { goWay } from './go-way.js';
import type { Way } from './ways.js';

export interface OutputWays {
  nodeId: string;
  output: Output;
  ways: readonly Way[];
}

/** Delivers a batch over all paths to one output. Returns `false` if the run stopped first. */
export async function deliverOver(work: Work, to: OutputWays, batch: Batch): Promise<boolean> {
  for (const way of to.ways) {
    const arriving = await arrival(work, to, way, batch);
    if (!arriving) return false;
    for (const each of arriving) if (!(await deliver(work, to.nodeId, to.output, each))) return false;
  }
  return true;
}

/**
 * Applies all paths to one output and returns the batches that reach it, or `undefined` if the run
 * stopped first.
 */
export async function arrivals(work: Work, to: OutputWays, batch: Batch): Promise<readonly Batch[] | undefined> {
  const all: Batch[] = [];
  for (const way of to.ways) {
    const arriving = await arrival(work, to, way, batch);
    if (!arriving) return undefined;
    all.push(...arriving);
  }
  return all;
}

/**
 * Applies one path and returns the batches that reach the output: none, one, or several if records
 * were split. Returns `undefined` if the run stopped first.
 */
async function arrival(work: Work, to: OutputWays, way: Way, batch: Batch): Promise<readonly Batch[] | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const letters: DeadLetter[] = [];
    try {
      const arriving = await goWay(way, batch, {
        counters: work.counters,
        now: work.clock.now(),
        aborted: work.aborted,
        refuse: (more) => letters.push(...more),
      });
      if (!arriving || !(await bury(work, to.nodeId, letters))) return undefined;
      return arriving.map((each) => named(work, to, way, each));
    } catch (error) {
      if (!(error instanceof EndError)) throw error;
      if (!(await again(work, to.nodeId, failureOf(error), attempt))) return undefined;
    }
  }
}

function named(work: Work, to: OutputWays, way: Way, batch: Batch): Batch {
  work.counters.add(to.nodeId, 'ingress', batch.lines.length, batch.bytes);
  // Two paths deliver the same record twice, intentionally: it must not be dropped as a duplicate.
  return way.name === '' ? batch : createBatch(batchId(batch.id, way.name), batch.lines, batch.bytes);
}
