import type { ConsumerOptions, ConsumerStats, OverflowPolicy, Waiting } from '../bus.js';
import { NO_DROPS, type Drops } from './envelope.js';
import type { ConsumerPosition } from './registry.js';

/** Where a stream ends: cumulative counts, and the last message. */
export interface Tail {
  readonly number: number;
  readonly records: number;
  readonly bytes: number;
  readonly drops: Readonly<Record<string, Drops>>;
  /** Sequence of the last message; 0: there is none. */
  readonly seq: number;
}

/** Limits of a bus for the backlog of a consumer, in bytes. */
export interface BudgetLimits {
  maxBytes: number;
  maxSpillBytes: number;
}

export const START: ConsumerPosition = {
  number: 0,
  records: 0,
  bytes: 0,
  dropped: { batches: 0, records: 0, bytes: 0 },
  seq: 0,
  epoch: '',
};

/** Fraction of the budget below which dropping ends, as in the embedded bus. */
const RESUME = 7 / 8;

/** Tracks the position of one consumer of a stream. */
export class StreamConsumer {
  readonly name: string;
  /** When the first batch after a position was published, as read last. */
  oldest: { after: ConsumerPosition; at: number } | undefined;
  #policy: OverflowPolicy = 'block';
  #maxBytes = 0;
  #position: ConsumerPosition;
  /** What is stored in the registry. */
  #saved: ConsumerPosition | undefined;
  /** Where to continue once everything up to `after` is acknowledged: the batches between are lost. */
  #jump: { after: number; to: ConsumerPosition } | undefined;

  constructor(name: string, saved: ConsumerPosition | undefined, start: ConsumerPosition) {
    this.name = name;
    this.#saved = saved;
    this.#position = saved ?? start;
  }

  /** Sets what happens when the backlog exceeds the budget. */
  configure({ policy = 'block', maxBytes = Infinity }: Omit<ConsumerOptions, 'name'>, limits: BudgetLimits): void {
    this.#policy = policy;
    this.#maxBytes = Math.min(maxBytes, policy === 'spill' ? limits.maxSpillBytes : limits.maxBytes);
  }

  get position(): ConsumerPosition {
    return this.#position;
  }

  /** The position from which a new process would continue. */
  get saved(): ConsumerPosition {
    return this.#saved ?? START;
  }

  get isSaved(): boolean {
    return this.saved === this.#position;
  }

  /** Whether new batches are dropped rather than rejected when the backlog exceeds the budget. */
  get drops(): boolean {
    return this.#policy === 'drop_newest';
  }

  /** Returns what it has not acknowledged, without what was dropped for it. */
  waiting(tail: Tail): Waiting {
    return ahead(tail, this.name, this.#position);
  }

  /**
   * Whether `bytes` more fit into its budget. A batch larger than the whole budget is accepted when
   * the backlog is empty.
   * @param reserved bytes that will be stored before them
   */
  fits(tail: Tail, bytes: number, reserved: number): boolean {
    const used = this.waiting(tail).bytes + reserved;
    return used <= 0 || used + bytes <= this.#maxBytes;
  }

  /**
   * Decides whether the next batch is dropped for this consumer.
   * @param pending bytes that will be stored before it
   * @param dropping whether the batch before it was dropped
   */
  shouldDrop(tail: Tail, bytes: number, pending: number, dropping: boolean): boolean {
    if (!this.drops) return false;
    const backlog = this.waiting(tail).bytes + pending;
    const isDropping = dropping && backlog > this.#maxBytes * RESUME;
    // A batch larger than the whole budget is kept when the backlog is empty.
    return isDropping || (backlog > 0 && backlog + bytes > this.#maxBytes);
  }

  stats(tail: Tail): ConsumerStats {
    const { dropping, ...dropped } = tail.drops[this.name] ?? NO_DROPS;
    const waiting = this.waiting(tail);
    return {
      ...waiting,
      maxBytes: this.#maxBytes,
      dropping: this.drops && dropping && waiting.bytes > this.#maxBytes * RESUME,
      dropped,
    };
  }

  /** Sets where a new consumer starts. The registry has stored it. */
  place(start: ConsumerPosition): void {
    this.#position = start;
    this.#saved = start;
  }

  /** Acknowledges all batches up to a position. Returns whether it has moved. */
  advance(to: ConsumerPosition): boolean {
    if (to.number <= this.#position.number) return false;
    this.#position = to;
    if (this.#jump && to.number >= this.#jump.after) {
      if (to.number < this.#jump.to.number) this.#position = this.#jump.to;
      this.#jump = undefined;
    }
    return true;
  }

  /** Continues at `to` once all batches up to `after` are acknowledged. Returns whether it has moved. */
  jump(after: number, to: ConsumerPosition): boolean {
    if (this.#position.number >= after) return this.advance(to);
    this.#jump = { after, to };
    return false;
  }

  /** The registry has stored a position. */
  stored(position: ConsumerPosition): void {
    if (position.number > this.saved.number || !this.#saved) this.#saved = position;
  }

  /** Takes over a position that another process has stored. Returns whether it is a later one. */
  adopt(position: ConsumerPosition): boolean {
    if (position.number > this.saved.number) this.#saved = position;
    if (position.number <= this.#position.number) return false;
    this.#position = position;
    return true;
  }
}

const part = (total: number, passed: number, dropped: number, before: number): number =>
  Math.max(0, total - passed - Math.max(0, dropped - before));

/** Returns what is between a position and the end of the stream for a consumer. */
export function ahead(tail: Tail, consumer: string, from: ConsumerPosition): Waiting {
  const drops = tail.drops[consumer] ?? NO_DROPS;
  return {
    batches: part(tail.number, from.number, drops.batches, from.dropped.batches),
    records: part(tail.records, from.records, drops.records, from.dropped.records),
    bytes: part(tail.bytes, from.bytes, drops.bytes, from.dropped.bytes),
  };
}
