import type { Bus, Delivery } from '../bus/bus.js';
import { waitBeforeRetry, type RunContext } from './deliver.js';
import type { OutputPaths } from './deliver-paths.js';
import { failureOf } from '../connector-api/index.js';
import { OutputWriter } from './output-writer.js';
import { Unacknowledged } from './unacknowledged.js';

/**
 * Delivers buffered and new batches to one output until the run stops. Outputs are independent of
 * each other.
 */
export async function runStream(context: RunContext, bus: Bus, stream: string, to: OutputPaths): Promise<void> {
  for (let attempt = 1; !context.stopping.aborted; attempt += 1) {
    const reading = new AbortController();
    const stop = (): void => reading.abort();
    context.stopping.addEventListener('abort', stop);
    try {
      const deliveries = bus.consume(stream, to.nodeId, reading.signal);
      await deliverAll({ context, deliveries, to, stop, done: () => (attempt = 1) });
      return;
    } catch (error) {
      const failure = { ...failureOf(error), message: 'The buffer could not be read.' };
      await waitBeforeRetry(context, to.nodeId, failure, attempt);
    } finally {
      context.stopping.removeEventListener('abort', stop);
    }
  }
}

interface StreamDelivery {
  context: RunContext;
  deliveries: AsyncIterable<Delivery>;
  to: OutputPaths;
  /** Ends `deliveries`. */
  stop: () => void;
  /** Called after each acknowledgment. */
  done: () => void;
}

/**
 * Writes the deliveries, and acknowledges them in order. On stop, writes what has been collected.
 * @throws errors of the bus and of deliveries, once no write is in progress
 */
async function deliverAll({ context, deliveries, to, stop, done }: StreamDelivery): Promise<void> {
  const unacknowledged = new Unacknowledged<() => Promise<void>>({
    // Acknowledging a delivery includes all earlier ones.
    merge: (_before, after) => after,
    acknowledge: async (ack) => {
      await ack();
      done();
      return true;
    },
    onFailure: stop,
  });
  const writer = new OutputWriter(context, to);
  try {
    for await (const delivery of deliveries) {
      if (context.stopping.aborted) break;
      const finish = unacknowledged.add(() => delivery.ack());
      if (!(await writer.add(delivery.batch, finish, delivery.publishedAt))) break;
    }
    if (!unacknowledged.hasFailed) await writer.flush();
  } finally {
    await writer.close();
    await unacknowledged.settled();
  }
}
