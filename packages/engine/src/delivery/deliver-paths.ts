import { batchId, createBatch, type Batch } from '../connector-api/batch.js';
import type { DeadLetter } from './dead-letters.js';
import { waitBeforeRetry, storeDeadLetters, type RunContext } from './deliver.js';
import { ConnectorError, failureOf, type Output } from '../connector-api/index.js';
import { applyPath } from './apply-path.js';
import type { Path } from './paths.js';

export interface OutputPaths {
  nodeId: string;
  output: Output;
  paths: readonly Path[];
}

/**
 * Applies all paths to one output and returns the batches that reach it, or `undefined` if the run
 * stopped first.
 */
export async function batchesFor(
  context: RunContext,
  to: OutputPaths,
  batch: Batch,
): Promise<readonly Batch[] | undefined> {
  const all: Batch[] = [];
  for (const path of to.paths) {
    const arriving = await batchesOver(context, to, path, batch);
    if (!arriving) return undefined;
    all.push(...arriving);
  }
  return all;
}

/**
 * Applies one path and returns the batches that reach the output: none, one, or several if records
 * were split. Returns `undefined` if the run stopped first.
 */
async function batchesOver(
  context: RunContext,
  to: OutputPaths,
  path: Path,
  batch: Batch,
): Promise<readonly Batch[] | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const rejected: DeadLetter[] = [];
    try {
      const arriving = await applyPath(path, batch, {
        counters: context.counters,
        samples: context.samples,
        schemas: context.schemas,
        now: context.clock.now(),
        aborted: context.aborted,
        reject: (more) => rejected.push(...more),
      });
      if (!arriving || !(await storeDeadLetters(context, to.nodeId, rejected))) return undefined;
      return arriving.map((each) => withPathId(context, to, path, each));
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      if (!(await waitBeforeRetry(context, to.nodeId, failureOf(error), attempt, to.output.retry))) return undefined;
    }
  }
}

function withPathId(context: RunContext, to: OutputPaths, path: Path, batch: Batch): Batch {
  context.counters.add(to.nodeId, 'ingress', batch.lines.length, batch.bytes);
  // Two paths deliver the same record twice, intentionally: it must not be dropped as a duplicate.
  return path.name === '' ? batch : createBatch(batchId(batch.id, path.name), batch.lines, batch.bytes);
}
