import { ConnectorError, isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';

/** The read position in one partition. Offsets are 64-bit integers, kept as strings. */
export interface Position {
  /** Offset of the next message to read; all earlier messages were delivered. */
  next: string;
  /**
   * Offset last committed to the consumer group. The group's offset lies between this and `next`
   * unless someone else moved it.
   */
  from: string;
}

/** The offsets available in a partition. */
export interface Bounds {
  low: string;
  high: string;
  /** Offset of the first message since the time to start at. */
  since?: string | undefined;
}

/** `since`: at a time. */
export type StartAt = 'smallest' | 'largest' | 'error' | 'since';

/** Positions by topic and partition, in the form stored in the engine's cursor. */
export class Positions {
  readonly #topics = new Map<string, Map<number, Position>>();

  constructor(cursor: JsonValue | undefined) {
    const topics = at(cursor, 'topics');
    for (const [topic, partitions] of Object.entries(isRecord(topics) ? topics : {})) {
      for (const [partition, position] of Object.entries(isRecord(partitions) ? partitions : {})) {
        const [next, from = next] = [text(position, 'next'), text(position, 'from')];
        const valid = [next, from, partition].every((each) => /^\d+$/.test(each ?? ''));
        if (valid && next && from) this.set(topic, Number(partition), { next, from });
      }
    }
  }

  get(topic: string, partition: number): Position | undefined {
    return this.#topics.get(topic)?.get(partition);
  }

  set(topic: string, partition: number, position: Position): void {
    const partitions = this.#topics.get(topic) ?? new Map<number, Position>();
    partitions.set(partition, position);
    this.#topics.set(topic, partitions);
  }

  hasTopic(topic: string): boolean {
    return this.#topics.has(topic);
  }

  /** Returns the delivered but uncommitted offsets of the partitions in `ours`. */
  uncommitted(
    ours: Readonly<Record<string, readonly number[]>>,
  ): { topic: string; partition: number; offset: string }[] {
    return [...this.#topics].flatMap(([topic, partitions]) =>
      [...partitions].flatMap(([partition, { next, from }]) =>
        next === from || !ours[topic]?.includes(partition) ? [] : [{ topic, partition, offset: next }],
      ),
    );
  }

  get cursor(): JsonValue {
    const topics = [...this.#topics].map(([topic, partitions]): [string, JsonValue] => [
      topic,
      Object.fromEntries([...partitions].map(([partition, position]) => [String(partition), { ...position }])),
    ]);
    return { topics: Object.fromEntries(topics) };
  }
}

/**
 * Chooses the start offset in a partition. The group's offset takes precedence, so that other
 * members can share the partition and an operator can reset the offset. The cursor is used only if
 * the group has no offset, or one between `known.from` and `known.next`: then commits merely lag
 * behind delivery.
 *
 * @param known position in the cursor
 * @param group offset committed to the group
 * @param started the group or the cursor has a position in this topic, so a new partition is read
 *   from its start
 * @throws ConnectorError `no_position`, permanent: `startAt` is `error` and no valid offset is known
 */
export function chooseStart(
  known: Position | undefined,
  group: string | undefined,
  { low, high, since = high }: Bounds,
  startAt: StartAt,
  started: boolean,
): string {
  const ours = known !== undefined && (group === undefined || isBetween(group, known.from, known.next));
  const start = ours ? known.next : group;
  if (start === undefined) {
    if (started) return low;
    if (startAt === 'error')
      throw noPosition('The consumer group has no committed offset, and the settings require one.');
    if (startAt === 'since') return since;
    return startAt === 'smallest' ? low : high;
  }
  if (isBetween(start, low, high)) return start;
  if (startAt === 'error') throw noPosition('Messages were deleted by Kafka before they were read.');
  // `startAt` applies to the first start only: read the messages that are left.
  return low;
}

const isBetween = (offset: string, low: string, high: string): boolean =>
  BigInt(offset) >= BigInt(low) && BigInt(offset) <= BigInt(high);

const noPosition = (message: string): ConnectorError => new ConnectorError('no_position', message, 'permanent');
