import { isRecord, type DataRecord, type JsonValue } from '../connector-api/record.js';
import type { Meter } from './meter.js';

/** Number of records, and their size in bytes as JSON. */
export interface Amount {
  records: number;
  bytes: number;
}

export interface NodeCounts {
  /** Records that reached the node. */
  ingress: Amount;
  /** Records that left the node; for an output, the records written. */
  egress: Amount;
  /** Records that failed permanently at this node. */
  errors: number;
}

/** Dead letters of a node since the pipeline was created. */
export interface LetterCounts {
  stored: number;
  /** Deleted to make space for new ones. */
  dropped: number;
  /** Redelivered and accepted. */
  replayed: number;
}

/**
 * Counts the records a pipeline has moved since it was created, by node. Its reports preserve the
 * counts across restarts.
 */
export class Counters {
  readonly #nodeIds: readonly string[];
  readonly #changed: (() => void) | undefined;
  readonly #meter: Meter | undefined;
  readonly #nodes = new Map<string, NodeCounts>();
  readonly #letters = new Map<string, LetterCounts>();
  readonly #failedAttempts = new Map<string, number>();
  #diverted: Counters | undefined;
  /** When records were last ingested, in milliseconds since the epoch. */
  lastIngestedAt: number | undefined;
  /** Increases with every change. */
  revision = 0;

  /**
   * @param nodeIds saved counts of other nodes, which no longer exist, are dropped
   * @param changed called after every change
   * @param meter also receives each counted amount
   */
  constructor(nodeIds: readonly string[], saved?: JsonValue, changed?: () => void, meter?: Meter) {
    this.#nodeIds = nodeIds;
    this.#changed = changed;
    this.#meter = meter;
    this.load(saved);
  }

  /** Replaces the counts with saved ones. */
  load(saved: JsonValue | undefined): void {
    const before = isRecord(saved) ? saved : {};
    const nodes = isRecord(before['nodes']) ? before['nodes'] : {};
    if (typeof before['last_ingested_at'] === 'number') this.lastIngestedAt = before['last_ingested_at'];
    for (const id of this.#nodeIds) {
      const node = isRecord(nodes[id]) ? nodes[id] : {};
      this.#nodes.set(id, {
        ingress: amount(node['ingress']),
        egress: amount(node['egress']),
        errors: count(node['errors']),
      });
      this.#failedAttempts.set(id, count(node['failed_attempts']));
      const letters = isRecord(node['dead_letters']) ? node['dead_letters'] : {};
      this.#letters.set(id, {
        stored: count(letters['stored']),
        dropped: count(letters['dropped']),
        replayed: count(letters['replayed']),
      });
    }
  }

  /** Adds saved counts of the same nodes. */
  merge(saved: JsonValue): void {
    const other = new Counters(this.#nodeIds, saved);
    if (other.lastIngestedAt !== undefined)
      this.lastIngestedAt = Math.max(this.lastIngestedAt ?? 0, other.lastIngestedAt);
    for (const [id, node] of this.#nodes) {
      const { ingress, egress, errors } = other.node(id);
      node.ingress = sum(node.ingress, ingress);
      node.egress = sum(node.egress, egress);
      node.errors += errors;
      this.#failedAttempts.set(id, this.failedAttempts(id) + other.failedAttempts(id));
      const [letters, more] = [this.#letters.get(id), other.letters(id)];
      if (letters) for (const kind of ['stored', 'dropped', 'replayed'] as const) letters[kind] += more[kind];
    }
    this.#rise();
  }

  /** Collects counts separately from now on, because another process has these counters. */
  divert(): void {
    this.#diverted ??= new Counters(this.#nodeIds);
  }

  /** Ends `divert`: adds what was not taken. */
  rejoin(): void {
    const taken = this.takeDiverted();
    this.#diverted = undefined;
    if (taken) this.merge(taken);
  }

  /** Returns what was counted since `divert` or the last call; `undefined` if nothing was. */
  takeDiverted(): DataRecord | undefined {
    const diverted = this.#diverted;
    if (!diverted || diverted.revision === 0) return undefined;
    this.#diverted = new Counters(this.#nodeIds);
    return diverted.toJson();
  }

  node(id: string): Readonly<NodeCounts> {
    return this.#nodes.get(id) ?? { ingress: amount(), egress: amount(), errors: 0 };
  }

  letters(id: string): Readonly<LetterCounts> {
    return this.#letters.get(id) ?? { stored: 0, dropped: 0, replayed: 0 };
  }

  /** Attempts of a node that failed while it was erroring. */
  failedAttempts(id: string): number {
    return this.#failedAttempts.get(id) ?? 0;
  }

  /** Sum of the failed attempts of all nodes. */
  get allFailedAttempts(): number {
    let sum = 0;
    for (const attempts of this.#failedAttempts.values()) sum += attempts;
    return sum;
  }

  /** Sum of the dead letters of all nodes. */
  get allLetters(): LetterCounts {
    const sum: LetterCounts = { stored: 0, dropped: 0, replayed: 0 };
    for (const { stored, dropped, replayed } of this.#letters.values()) {
      sum.stored += stored;
      sum.dropped += dropped;
      sum.replayed += replayed;
    }
    return sum;
  }

  addLetters(id: string, kind: keyof LetterCounts, letters: number): void {
    if (this.#diverted) return this.#diverted.addLetters(id, kind, letters);
    const node = this.#letters.get(id);
    if (!node || letters === 0) return;
    node[kind] += letters;
    this.#rise();
  }

  add(id: string, direction: 'ingress' | 'egress', records: number, bytes: number): void {
    const node = this.#nodes.get(id);
    if (!node || records === 0) return;
    this.#meter?.add(id, direction, records, bytes);
    if (this.#diverted) return this.#diverted.add(id, direction, records, bytes);
    node[direction].records += records;
    node[direction].bytes += bytes;
    this.#rise();
  }

  addErrors(id: string, errors: number): void {
    const node = this.#nodes.get(id);
    if (!node || errors === 0) return;
    this.#meter?.addErrors(id, errors);
    if (this.#diverted) return this.#diverted.addErrors(id, errors);
    node.errors += errors;
    this.#rise();
  }

  /** Counts one attempt of a node that failed while it was erroring. */
  addFailedAttempt(id: string): void {
    if (!this.#failedAttempts.has(id)) return;
    if (this.#diverted) return this.#diverted.addFailedAttempt(id);
    this.#failedAttempts.set(id, this.failedAttempts(id) + 1);
    this.#rise();
  }

  /** Notes that records were ingested now, in milliseconds since the epoch. */
  ingestedAt(now: number): void {
    (this.#diverted ?? this).lastIngestedAt = now;
  }

  /** Only for the meter: see `Meter`. */
  addUnfiltered(id: string, records: number, bytes: number): void {
    if (this.#nodes.has(id) && records > 0) this.#meter?.addUnfiltered(id, records, bytes);
  }

  #rise(): void {
    this.revision += 1;
    this.#changed?.();
  }

  toJson(): DataRecord {
    const nodes = [...this.#nodes].map(([id, { ingress, egress, errors }]) => [
      id,
      {
        ingress: { ...ingress },
        egress: { ...egress },
        errors,
        failed_attempts: this.failedAttempts(id),
        dead_letters: { ...this.letters(id) },
      },
    ]);
    return {
      nodes: Object.fromEntries(nodes),
      ...(this.lastIngestedAt !== undefined && { last_ingested_at: this.lastIngestedAt }),
    };
  }
}

const sum = (one: Amount, other: Amount): Amount => ({
  records: one.records + other.records,
  bytes: one.bytes + other.bytes,
});

const count = (value: JsonValue | undefined): number => (typeof value === 'number' ? value : 0);

function amount(value?: JsonValue): Amount {
  const saved = isRecord(value) ? value : {};
  return { records: count(saved['records']), bytes: count(saved['bytes']) };
}
