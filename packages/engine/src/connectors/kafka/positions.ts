import { isRecord, type JsonValue } from '../../records/record.js';
import { EndError } from '../../runner/ends.js';
import { at, text } from '../read.js';

/** How far one partition was read. Offsets have 64 bits, as text. */
export interface Position {
  /** The message to read next: all before it were delivered. */
  next: string;
  /** The consumer group says something from here to `next`: what it was told before is behind what was delivered. */
  from: string;
}

/** What there is in a partition. */
export interface Bounds {
  low: string;
  high: string;
}

export type StartAt = 'smallest' | 'largest' | 'error';

/** By topic and partition, as the engine's cursor keeps them. */
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

  knows(topic: string): boolean {
    return this.#topics.has(topic);
  }

  /** What was delivered of these, and the group was not told yet. */
  untold(ours: Readonly<Record<string, readonly number[]>>): { topic: string; partition: number; offset: string }[] {
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
 * Where to begin in a partition. The group decides, so that others may share it and a person may set it back; only when
 * it says nothing, or no more than it was told of what we delivered, we know better.
 * @param begun the group, or we, have read something of this topic: a partition that is new must not be cut
 * @throws EndError `no_position`, permanent: the settings want an error rather than a guess
 */
export function chooseStart(
  known: Position | undefined,
  group: string | undefined,
  { low, high }: Bounds,
  startAt: StartAt,
  begun: boolean,
): string {
  const ours = known !== undefined && (group === undefined || isBetween(group, known.from, known.next));
  const place = ours ? known.next : group;
  if (place === undefined) {
    if (begun) return low;
    if (startAt === 'error') throw nowhere('The consumer group has no position yet, and none is to be chosen for it.');
    return startAt === 'smallest' ? low : high;
  }
  if (isBetween(place, low, high)) return place;
  if (startAt === 'error') throw nowhere('Messages were deleted by Kafka before they were read.');
  // What is still there is not passed over, whatever the settings say of a first start.
  return low;
}

const isBetween = (offset: string, low: string, high: string): boolean =>
  BigInt(offset) >= BigInt(low) && BigInt(offset) <= BigInt(high);

const nowhere = (message: string): EndError => new EndError('no_position', message, 'permanent');
