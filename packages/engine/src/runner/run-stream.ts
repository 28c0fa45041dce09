import type { Bus, Delivery } from '../bus/bus.js';
import { again, type Work } from './deliver.js';
import { deliverOver, type OutputWays } from './deliver-over.js';
import { failureOf, type Gathering } from './ends.js';
import { Gather } from './gather.js';
import { withDeadlines } from './with-deadlines.js';

/**
 * Delivers buffered and new batches to one output until the run stops. Outputs are independent of
 * each other.
 */
export async function runStream(work: Work, bus: Bus, stream: string, to: OutputWays): Promise<void> {
  const { gather } = to.output;
  for (let attempt = 1; !work.stopping.aborted; attempt += 1) {
    try {
      const deliveries = bus.consume(stream, to.nodeId, work.stopping);
      const done = (): void => void (attempt = 1);
      await (gather ? gathered(work, deliveries, to, gather, done) : oneByOne(work, deliveries, to, done));
      return;
    } catch (error) {
      const failure = { ...failureOf(error), message: 'The buffer could not be read.' };
      await again(work, to.nodeId, failure, attempt);
    }
  }
}

async function oneByOne(
  work: Work,
  deliveries: AsyncIterable<Delivery>,
  to: OutputWays,
  done: () => void,
): Promise<void> {
  for await (const delivery of deliveries) {
    if (work.stopping.aborted) return;
    work.health.opened(to.nodeId, 1);
    if (!(await deliverOver(work, to, delivery.batch))) {
      work.health.opened(to.nodeId, -1);
      return;
    }
    await delivery.ack();
    work.health.acknowledged(to.nodeId);
    done();
  }
}

/**
 * Writes several deliveries as one batch, then acknowledges them. On stop, writes what is batched.
 */
async function gathered(
  work: Work,
  deliveries: AsyncIterable<Delivery>,
  to: OutputWays,
  limits: Gathering,
  done: () => void,
): Promise<void> {
  const gather = new Gather(work, to, limits);
  let last: Delivery | undefined;
  const write = async (): Promise<boolean> => {
    if (!last) return true;
    if (!(await gather.write())) return false;
    await last.ack();
    last = undefined;
    done();
    return true;
  };
  for await (const delivery of withDeadlines(deliveries, () => gather.dueIn, work.clock)) {
    if (work.stopping.aborted) break;
    if (delivery) {
      if (!(await gather.add(delivery.batch, delivery.publishedAt))) return;
      last = delivery;
    }
    if ((gather.dueIn ?? 0) <= 0 && !(await write())) return;
  }
  await write();
}
