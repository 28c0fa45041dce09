import type { Batch, Waiting } from '@connector-frame/engine';
import { sizeOf } from './batch-body.js';
import type { Outcome } from './bus-queries.js';

/** A consumer while a group of batches is stored. */
export interface PlannedConsumer {
  name: string;
  /** Drops new batches while its budget is used up, rather than blocking them. */
  drops: boolean;
  maxBytes: number;
  /** Bytes it has not acknowledged, without those dropped. */
  backlog: number;
  isDropping: boolean;
  /** It has rejected a batch of this group. */
  isBlocking: boolean;
  /** What is dropped of this group. */
  dropped: Waiting;
}

/** A batch that is stored, or dropped for all consumers. */
export interface WrittenBatch {
  batch: Batch;
  sequence: number;
  isStored: boolean;
  droppedFor: readonly string[];
}

/** Fraction of the budget below which dropping ends, so that it changes rarely. */
const RESUME = 7 / 8;

/**
 * Decides for each batch of a group whether it is stored, and for whom it is dropped; changes
 * `consumers` accordingly. A batch larger than a whole budget is accepted when the backlog is empty.
 */
export function planGroup(
  batches: readonly Batch[],
  consumers: readonly PlannedConsumer[],
  before: { sequence: number; known: ReadonlyMap<string, number> },
): { outcomes: Outcome[]; written: WrittenBatch[] } {
  const outcomes: Outcome[] = [];
  const written: WrittenBatch[] = [];
  let { sequence } = before;
  let isFull = false;
  for (const batch of batches) {
    const known = before.known.get(batch.id);
    if (known !== undefined) {
      outcomes.push({ stored: true, sequence: known, repeated: true });
      continue;
    }
    const bytes = sizeOf(batch);
    // In the order of the sender: nothing passes a batch that has to wait.
    const blocking = isFull ? [] : consumers.filter((each) => !each.drops && !fits(each, bytes));
    for (const each of blocking) each.isBlocking = true;
    if (isFull || blocking.length > 0) {
      isFull = true;
      outcomes.push({ stored: false });
      continue;
    }
    sequence += 1;
    const droppedFor: string[] = [];
    for (const each of consumers) {
      if (each.drops && shouldDrop(each, bytes)) {
        droppedFor.push(each.name);
        each.dropped.batches += 1;
        each.dropped.records += batch.lines.length;
        each.dropped.bytes += bytes;
      } else each.backlog += bytes;
    }
    written.push({ batch, sequence, isStored: droppedFor.length < consumers.length, droppedFor });
    outcomes.push({ stored: true, sequence, repeated: false });
  }
  return { outcomes, written };
}

const fits = ({ backlog, maxBytes }: PlannedConsumer, bytes: number): boolean =>
  backlog <= 0 || backlog + bytes <= maxBytes;

function shouldDrop(consumer: PlannedConsumer, bytes: number): boolean {
  const { backlog, maxBytes } = consumer;
  if (consumer.isDropping && backlog <= maxBytes * RESUME) consumer.isDropping = false;
  if (!consumer.isDropping && backlog > 0 && backlog + bytes > maxBytes) consumer.isDropping = true;
  return consumer.isDropping;
}
