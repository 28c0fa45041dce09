import { batchId, createBatch, type Batch } from '../records/batch.js';
import type { DeadLetter } from './dead-letters.js';
import { bury, deliver, type Work } from './deliver.js';
import type { Output } from './ends.js';
import { goWay, type Way } from './ways.js';

export interface OutputWays {
  nodeId: string;
  output: Output;
  ways: readonly Way[];
}

/** One batch over all ways to one output. */
export async function deliverOver(work: Work, to: OutputWays, batch: Batch): Promise<boolean> {
  for (const way of to.ways) {
    const arriving = await arrival(work, to, way, batch);
    if (!arriving) return false;
    for (const each of arriving) if (!(await deliver(work, to.nodeId, to.output, each))) return false;
  }
  return true;
}

/** What of a batch arrives at one output, over all ways to it. `undefined`: told to stop. */
export async function arrivals(work: Work, to: OutputWays, batch: Batch): Promise<readonly Batch[] | undefined> {
  const all: Batch[] = [];
  for (const way of to.ways) {
    const arriving = await arrival(work, to, way, batch);
    if (!arriving) return undefined;
    all.push(...arriving);
  }
  return all;
}

/** One batch, or none. */
async function arrival(work: Work, to: OutputWays, way: Way, batch: Batch): Promise<readonly Batch[] | undefined> {
  const letters: DeadLetter[] = [];
  const arriving = goWay(way, batch, {
    counters: work.counters,
    now: work.clock.now(),
    refuse: (more) => letters.push(...more),
  });
  if (!(await bury(work, to.nodeId, letters))) return undefined;
  if (!arriving) return [];
  // Two ways bring the same record twice, on purpose: it must not read as a repeat.
  const named =
    way.name === '' ? arriving : createBatch(batchId(arriving.id, way.name), arriving.lines, arriving.bytes);
  work.counters.add(to.nodeId, 'ingress', named.lines.length, named.bytes);
  return [named];
}
