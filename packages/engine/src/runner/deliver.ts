import type { Batch } from '../records/batch.js';
import type { DeadLetter } from './dead-letters.js';
import { failureOf, type Failure, type Output, type WriteResult } from './ends.js';
import type { WorkMeans } from './work-means.js';

/** Shared dependencies of one run, with its abort signals. */
export interface Work extends WorkMeans {
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
export async function deliver(work: Work, nodeId: string, output: Output, batch: Batch): Promise<boolean> {
  let rest = batch;
  for (let attempt = 1; ; attempt += 1) {
    if (work.aborted.aborted) return false;
    const answer = await write(output, rest, work.aborted);
    if ('failure' in answer) {
      if (work.aborted.aborted) return false;
      if (!(await again(work, nodeId, answer.failure, attempt))) return false;
      continue;
    }
    const { refused = [], retry } = answer.result;
    const letters = refused.map(({ index, reason }) => letter(nodeId, rest, index, reason));
    if (!(await bury(work, nodeId, letters))) return false;
    const open = new Set([...refused.map(({ index }) => index), ...(retry?.indexes ?? [])]);
    const written = open.size === 0 ? rest : rest.pick([...rest.lines.keys()].filter((index) => !open.has(index)));
    work.counters.add(nodeId, 'egress', written.lines.length, written.bytes);
    if (!retry || retry.indexes.length === 0) return true;
    rest = rest.pick(retry.indexes);
    const { reason, afterMs, throttled } = retry;
    const failure: Failure = {
      code: 'retry',
      message: `${retry.indexes.length} records failed and are retried: ${reason}.`,
      kind: throttled ? 'throttled' : 'retry',
      ...(afterMs !== undefined && { afterMs }),
    };
    if (!(await again(work, nodeId, failure, attempt))) return false;
  }
}

/**
 * Stores dead letters and counts them. They must be on disk before delivery continues. Returns
 * `false` if the run stopped first.
 */
export async function bury(work: Work, nodeId: string, letters: readonly DeadLetter[]): Promise<boolean> {
  if (letters.length === 0) return true;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work.deadLetters.add(letters);
      break;
    } catch (error) {
      const failure: Failure = { ...failureOf(error), message: 'could not store dead letters' };
      if (!(await again(work, nodeId, failure, attempt))) return false;
    }
  }
  for (const each of letters) work.counters.addErrors(each.nodeId, 1);
  const [first] = letters;
  const message = `${letters.length} records rejected and stored as dead letters: ${first?.reason ?? ''}`;
  work.log({ level: 'warn', code: 'records_refused', message, nodeId: first?.nodeId ?? nodeId });
  return true;
}

/**
 * Records a failure and waits for the backoff delay. Returns `false` if the run is stopping and
 * there will be no retry.
 */
export async function again(work: Work, nodeId: string, failure: Failure, attempt: number): Promise<boolean> {
  // Permanent failures are retried at the maximum interval: the cause may be fixed on the remote
  // side.
  const wait = work.backoff(failure.kind === 'permanent' ? 100 : attempt, failure.afterMs);
  work.health.failed(nodeId, failure, wait);
  if (!work.stopping.aborted) await work.clock.sleep(wait, work.stopping);
  return !work.stopping.aborted;
}

export const letter = (nodeId: string, batch: Batch, index: number, reason: string): DeadLetter => ({
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
