import type { Batch } from '../connector-api/batch.js';
import type { DeadLetter } from './dead-letters.js';
import { failureOf, type Failure, type Output, type WriteResult } from '../connector-api/index.js';
import type { PipelineContext } from './pipeline-context.js';

/** Shared dependencies of one run, with its abort signals. */
export interface RunContext extends PipelineContext {
  /** Aborted when the run should finish its current work and start nothing new. */
  stopping: AbortSignal;
  /** Aborted when the run should also abandon its current work. */
  aborted: AbortSignal;
}

/**
 * Writes a batch to an output and retries until all records are written or rejected permanently.
 * Returns `false` if the run stopped first: the batch is then not acknowledged and will be
 * redelivered.
 */
export async function deliver(context: RunContext, nodeId: string, output: Output, batch: Batch): Promise<boolean> {
  let rest = batch;
  for (let attempt = 1; ; attempt += 1) {
    if (context.aborted.aborted) return false;
    const outcome = await write(output, rest, context.aborted);
    if ('failure' in outcome) {
      if (context.aborted.aborted) return false;
      if (!(await waitBeforeRetry(context, nodeId, outcome.failure, attempt, output.retry))) return false;
      continue;
    }
    const { rejected = [], retry } = outcome.result;
    const entries = rejected.map(({ index, reason }) => deadLetter(nodeId, rest, index, reason));
    if (!(await storeDeadLetters(context, nodeId, entries))) return false;
    const open = new Set([...rejected.map(({ index }) => index), ...(retry?.indexes ?? [])]);
    const written = open.size === 0 ? rest : rest.pick([...rest.lines.keys()].filter((index) => !open.has(index)));
    context.counters.add(nodeId, 'egress', written.lines.length, written.bytes);
    if (!retry || retry.indexes.length === 0) return true;
    rest = rest.pick(retry.indexes);
    const { reason, afterMs, throttled } = retry;
    const failure: Failure = {
      code: 'retry',
      message: `${retry.indexes.length} records failed and are retried: ${reason}.`,
      kind: throttled ? 'throttled' : 'retry',
      ...(afterMs !== undefined && { afterMs }),
    };
    if (!(await waitBeforeRetry(context, nodeId, failure, attempt, output.retry))) return false;
  }
}

/**
 * Stores dead letters and counts them. They must be on disk before delivery continues. Returns
 * `false` if the run stopped first.
 */
export async function storeDeadLetters(
  context: RunContext,
  nodeId: string,
  entries: readonly DeadLetter[],
): Promise<boolean> {
  if (entries.length === 0) return true;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await context.deadLetters.add(entries);
      break;
    } catch (error) {
      const failure: Failure = { ...failureOf(error), message: 'could not store dead letters' };
      if (!(await waitBeforeRetry(context, nodeId, failure, attempt))) return false;
    }
  }
  for (const each of entries) context.counters.addErrors(each.nodeId, 1);
  const [first] = entries;
  const message = `${entries.length} records rejected and stored as dead letters: ${first?.reason ?? ''}`;
  context.log({ level: 'warn', code: 'records_refused', message, nodeId: first?.nodeId ?? nodeId });
  return true;
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
): Promise<boolean> {
  const wait = context.retryDelay(failure, attempt, limits);
  context.health.failed(nodeId, failure, wait);
  if (!context.stopping.aborted) await context.clock.sleep(wait, context.stopping);
  return !context.stopping.aborted;
}

export const deadLetter = (nodeId: string, batch: Batch, index: number, reason: string): DeadLetter => ({
  nodeId,
  reason,
  recordId: batch.recordId(index),
  line: batch.lines[index] ?? '{}',
});

async function write(
  output: Output,
  batch: Batch,
  signal: AbortSignal,
): Promise<{ result: WriteResult } | { failure: Failure }> {
  try {
    return { result: await output.write(batch, signal) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}
