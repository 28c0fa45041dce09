import type { Batch } from '../connector-api/batch.js';
import type { Failure, Output } from '../connector-api/index.js';
import type { DeadLetter } from './dead-letters.js';
import type { OutputGate } from './output-gate.js';
import type { PipelineContext } from './pipeline-context.js';

/** Shared dependencies of one run, with its abort signals. */
export interface RunContext extends PipelineContext {
  /** Aborted when the run should finish its current work and start nothing new. */
  stopping: AbortSignal;
  /** Aborted when the run should also abandon its current work. */
  aborted: AbortSignal;
  /** Gates of the outputs, by node id. */
  gates: Map<string, OutputGate>;
}

/**
 * Records a failure and waits for the backoff delay. Returns `false` if the run is stopping and
 * there will be no retry.
 */
export async function waitBeforeRetry(
  context: RunContext,
  nodeId: string,
  failure: Failure,
  attempt: number,
  limits?: Output['retry'],
  waits = context.retries,
): Promise<boolean> {
  await pauseAfterFailure(context, nodeId, failure, attempt, limits, waits);
  return !context.stopping.aborted;
}

/** Like `waitBeforeRetry`, but returns whether a person ended the wait. */
export async function pauseAfterFailure(
  context: RunContext,
  nodeId: string,
  failure: Failure,
  attempt: number,
  limits?: Output['retry'],
  waits = context.retries,
): Promise<boolean> {
  const wait = context.retryDelay(failure, attempt, limits);
  context.health.failed(nodeId, failure, wait);
  return !context.stopping.aborted && waits.sleep(wait, context.stopping);
}

export const deadLetter = (nodeId: string, batch: Batch, index: number, reason: string): DeadLetter => ({
  nodeId,
  reason,
  recordId: batch.recordId(index),
  line: batch.lines[index] ?? '{}',
});
