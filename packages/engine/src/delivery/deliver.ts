import type { Batch } from '../connector-api/batch.js';
import { failureOf, type Failure, type Output } from '../connector-api/index.js';
import { BatchDelivery } from './batch-delivery.js';
import { DeadLettersFullError, type DeadLetter } from './dead-letters.js';
import { OutputGate } from './output-gate.js';
import { waitBeforeRetry, type RunContext } from './run-context.js';
import { traceDelivery } from '../tracing/trace-delivery.js';

export { deadLetter, waitBeforeRetry, type RunContext } from './run-context.js';

/**
 * Writes a batch to an output and retries until all records are written or stored as dead letters.
 * Returns `false` if the run stopped first: the batch is then not acknowledged and will be
 * redelivered. Several batches of one output may be delivered at the same time.
 *
 * @param sources ids of the batches of the input that its records are from
 */
export function deliver(
  context: RunContext,
  nodeId: string,
  output: Output,
  batch: Batch,
  sources: readonly string[] = [],
): Promise<boolean> {
  const gate = gateOf(context, nodeId, output);
  const reject = (entries: readonly DeadLetter[]): Promise<boolean> => storeDeadLetters(context, nodeId, entries);
  const delivery = new BatchDelivery({ context, nodeId, output, gate, batch, reject, replayed: false });
  return traceDelivery(context, { nodeId, sources, records: batch.lines.length }, () => delivery.run());
}

/** Returns the gate that all deliveries of this run to one output share. */
export function gateOf(context: RunContext, nodeId: string, output: Output): OutputGate {
  let gate = context.gates.get(nodeId);
  if (!gate) context.gates.set(nodeId, (gate = new OutputGate(context, nodeId, output.retry)));
  return gate;
}

/**
 * Stores dead letters and counts them. They must be on disk before delivery continues; while there
 * is no space for them, it waits. Returns `false` if the run stopped first.
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
      const isFull = error instanceof DeadLettersFullError;
      const failure: Failure = {
        ...failureOf(error),
        message: isFull ? error.message : 'could not store dead letters',
        kind: 'retry',
        needsAttention: isFull,
      };
      if (!(await waitBeforeRetry(context, nodeId, failure, attempt, undefined, context.space))) return false;
    }
  }
  for (const each of entries) context.counters.addErrors(each.nodeId, 1);
  const [first] = entries;
  const message = `${entries.length} records rejected and stored as dead letters: ${first?.reason ?? ''}`;
  context.log({ level: 'warn', code: 'records_refused', message, nodeId: first?.nodeId ?? nodeId });
  return true;
}
