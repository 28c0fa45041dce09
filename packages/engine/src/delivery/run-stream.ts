import type { Bus, Delivery } from '../bus/bus.js';
import { waitBeforeRetry, type RunContext } from './deliver.js';
import { deliverPaths, type OutputPaths } from './deliver-paths.js';
import { failureOf, type Batching } from '../connector-api/index.js';
import { Batcher } from './batcher.js';
import { withDeadlines } from './with-deadlines.js';

/**
 * Delivers buffered and new batches to one output until the run stops. Outputs are independent of
 * each other.
 */
export async function runStream(context: RunContext, bus: Bus, stream: string, to: OutputPaths): Promise<void> {
  const { batching } = to.output;
  for (let attempt = 1; !context.stopping.aborted; attempt += 1) {
    try {
      const deliveries = bus.consume(stream, to.nodeId, context.stopping);
      const done = (): void => void (attempt = 1);
      await (batching
        ? deliverBatched(context, deliveries, to, batching, done)
        : deliverEach(context, deliveries, to, done));
      return;
    } catch (error) {
      const failure = { ...failureOf(error), message: 'The buffer could not be read.' };
      await waitBeforeRetry(context, to.nodeId, failure, attempt);
    }
  }
}

async function deliverEach(
  context: RunContext,
  deliveries: AsyncIterable<Delivery>,
  to: OutputPaths,
  done: () => void,
): Promise<void> {
  for await (const delivery of deliveries) {
    if (context.stopping.aborted) return;
    context.health.opened(to.nodeId, 1);
    if (!(await deliverPaths(context, to, delivery.batch))) {
      context.health.opened(to.nodeId, -1);
      return;
    }
    await delivery.ack();
    context.health.acknowledged(to.nodeId);
    done();
  }
}

/**
 * Writes several deliveries as one batch, then acknowledges them. On stop, writes what is batched.
 */
async function deliverBatched(
  context: RunContext,
  deliveries: AsyncIterable<Delivery>,
  to: OutputPaths,
  limits: Batching,
  done: () => void,
): Promise<void> {
  const batcher = new Batcher(context, to, limits);
  let last: Delivery | undefined;
  const write = async (): Promise<boolean> => {
    if (!last) return true;
    if (!(await batcher.write())) return false;
    await last.ack();
    last = undefined;
    done();
    return true;
  };
  for await (const delivery of withDeadlines(deliveries, () => batcher.dueIn, context.clock)) {
    if (context.stopping.aborted) break;
    if (delivery) {
      if (!(await batcher.add(delivery.batch, delivery.publishedAt))) return;
      last = delivery;
    }
    if ((batcher.dueIn ?? 0) <= 0 && !(await write())) return;
  }
  await write();
}
