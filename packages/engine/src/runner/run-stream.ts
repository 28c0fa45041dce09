import type { Bus } from '../bus/bus.js';
import { again, type Work } from './deliver.js';
import { deliverOver, type OutputWays } from './deliver-over.js';
import { failureOf } from './ends.js';

/** Delivers what one output has in the buffer, and what comes, until told to stop. Other outputs go on by themselves. */
export async function runStream(work: Work, bus: Bus, stream: string, to: OutputWays): Promise<void> {
  for (let attempt = 1; !work.stopping.aborted; attempt += 1) {
    try {
      for await (const delivery of bus.consume(stream, to.nodeId, work.stopping)) {
        if (work.stopping.aborted) return;
        work.health.opened(to.nodeId, 1);
        if (!(await deliverOver(work, to, delivery.batch))) {
          work.health.opened(to.nodeId, -1);
          return;
        }
        await delivery.ack();
        work.health.acknowledged(to.nodeId);
        attempt = 1;
      }
      return;
    } catch (error) {
      const failure = { ...failureOf(error), message: 'The buffer could not be read.' };
      await again(work, to.nodeId, failure, attempt);
    }
  }
}
