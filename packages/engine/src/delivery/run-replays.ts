import { batchId } from '../connector-api/batch.js';
import { createNamedBatch } from '../records/merged-batch.js';
import { BatchDelivery } from './batch-delivery.js';
import type { DeadLetter, StoredLetter } from './dead-letters.js';
import { gateOf, waitBeforeRetry, type RunContext } from './deliver.js';
import type { OutputPaths } from './deliver-paths.js';
import { groupBy } from './group-by.js';
import { failureOf } from '../connector-api/index.js';
import { traceDelivery } from '../tracing/trace-delivery.js';

/** Letters per redelivered batch. */
const MAX_LETTERS = 200;

/**
 * Redelivers dead letters of one output that were marked for it, until the run stops. A letter is
 * deleted after its record is written; one that is refused again returns to the dead letters.
 */
export async function runReplays(context: RunContext, to: Pick<OutputPaths, 'nodeId' | 'output'>): Promise<void> {
  const { deadLetters, stopping } = context;
  for (let attempt = 1; !stopping.aborted;) {
    try {
      const letters = await deadLetters.replaying(to.nodeId, MAX_LETTERS);
      if (letters.length === 0) await deadLetters.waitForReplay(stopping);
      else if (!(await redeliver(context, to, letters))) return;
      attempt = 1;
    } catch (error) {
      const failure = { ...failureOf(error), message: 'The dead letters could not be read or changed.' };
      await waitBeforeRetry(context, to.nodeId, failure, attempt);
      attempt += 1;
    }
  }
}

async function redeliver(
  context: RunContext,
  { nodeId, output }: Pick<OutputPaths, 'nodeId' | 'output'>,
  letters: readonly StoredLetter[],
): Promise<boolean> {
  const { deadLetters, counters } = context;
  // Records keep their ids. Several letters may hold the same record.
  const byRecord = groupBy(letters, ({ recordId }) => recordId);
  const refused = new Map<string, string>();
  const reject = (entries: readonly DeadLetter[]): Promise<boolean> => {
    for (const { recordId, reason } of entries) {
      const letter = byRecord.get(recordId)?.find(({ id }) => !refused.has(id));
      if (letter) refused.set(letter.id, reason);
    }
    return Promise.resolve(true);
  };
  const id = batchId('replay', ...letters.map((letter) => letter.id));
  const lines = letters.map(({ line: text, recordId }) => ({ text, recordId }));
  const batch = createNamedBatch(id, lines);
  const gate = gateOf(context, nodeId, output);
  const options = { context, nodeId, output, gate, batch, reject, replayed: true };
  const delivery = new BatchDelivery(options);
  const traced = { nodeId, sources: [], records: letters.length };
  if (!(await traceDelivery(context, traced, () => delivery.run()))) return false;
  const written = letters.filter((letter) => !refused.has(letter.id));
  await deadLetters.delete(written.map((letter) => letter.id));
  await deadLetters.returnReplayed(refused);
  counters.addLetters(nodeId, 'replayed', written.length);
  const message = `${written.length} dead letters redelivered, ${refused.size} refused again`;
  context.log({ level: refused.size > 0 ? 'warn' : 'info', code: 'dead_letters_replayed', message, nodeId });
  return true;
}
