import type { Bus } from '../bus/bus.js';
import { WAKE_UP, type Clock } from '../connector-api/clock.js';
import { withDeadlines } from './with-deadlines.js';

/** Milliseconds without a batch after which the rest of a backlog is considered damaged. */
const IDLE_MS = 500;

/**
 * Acknowledges everything that waits for a consumer, without delivering it. The consumer must have
 * no other reader. Returns the number of records.
 */
export async function skipBacklog(bus: Bus, stream: string, consumer: string, clock: Clock): Promise<number> {
  let left = (await bus.stats(stream)).consumers[consumer]?.batches ?? 0;
  if (left === 0) return 0;
  const done = new AbortController();
  let records = 0;
  try {
    for await (const delivery of withDeadlines(bus.consume(stream, consumer, done.signal), () => IDLE_MS, clock)) {
      if (!delivery) break;
      await delivery.ack();
      records += delivery.batch.lines.length;
      left -= 1;
      if (left === 0) break;
    }
  } finally {
    done.abort(WAKE_UP);
  }
  return records;
}
