import type { Batch } from '../records/batch.js';
import type { DeadLetter } from './dead-letters.js';
import { failureOf, type Failure, type Output, type WriteResult } from './ends.js';
import type { WorkMeans } from './work-means.js';

/** What all work of one run shares; it may be told to end. */
export interface Work extends WorkMeans {
  /** Nothing new is to be begun. */
  stopping: AbortSignal;
  /** What was begun is given up. */
  aborted: AbortSignal;
}

/**
 * Writes a batch to an output, and tries again what may be tried again, until it is written or refused for good.
 * `false`: told to stop before that; it is not acknowledged then, and comes again.
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
      message: `${retry.indexes.length} records are tried again: ${reason}.`,
      kind: throttled ? 'throttled' : 'retry',
      ...(afterMs !== undefined && { afterMs }),
    };
    if (!(await again(work, nodeId, failure, attempt))) return false;
  }
}

/** Writes down what nobody took, and counts it. It must be on disk before anything goes on. */
export async function bury(work: Work, nodeId: string, letters: readonly DeadLetter[]): Promise<boolean> {
  if (letters.length === 0) return true;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work.deadLetters.add(letters);
      break;
    } catch (error) {
      const failure: Failure = { ...failureOf(error), message: 'Refused records could not be written down.' };
      if (!(await again(work, nodeId, failure, attempt))) return false;
    }
  }
  for (const each of letters) work.counters.addErrors(each.nodeId, 1);
  const [first] = letters;
  const message = `${letters.length} refused for good, kept with the dead letters: ${first?.reason ?? ''}`;
  work.log({ level: 'warn', code: 'records_refused', message, nodeId: first?.nodeId ?? nodeId });
  return true;
}

/** Waits before the next try; `false`: there will be none. */
export async function again(work: Work, nodeId: string, failure: Failure, attempt: number): Promise<boolean> {
  // What a person must mend is looked at again seldom, yet it is: it may be mended on the other side.
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
