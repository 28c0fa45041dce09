import { isRecord, type DataRecord, type JsonValue } from '../records/record.js';

/** Records, and their bytes as JSON. */
export interface Amount {
  records: number;
  bytes: number;
}

export interface NodeCounts {
  /** What came to the node. */
  ingress: Amount;
  /** What left it; at an output: what was written. */
  egress: Amount;
  /** Records it could not take, for good. */
  errors: number;
}

/** What a pipeline has moved since it was made, by node. Kept over restarts by its reports. */
export class Counters {
  readonly #nodes = new Map<string, NodeCounts>();
  /** When records last came in. Milliseconds since the epoch. */
  lastIngestedAt: number | undefined;
  /** Rises with every change. */
  revision = 0;

  /**
   * @param nodeIds what was counted for other nodes, gone since, is forgotten
   * @param changed told of every change
   */
  constructor(
    private readonly nodeIds: readonly string[],
    saved?: JsonValue,
    private readonly changed?: () => void,
  ) {
    this.load(saved);
  }

  /** Goes on from what was counted before. */
  load(saved: JsonValue | undefined): void {
    const before = isRecord(saved) ? saved : {};
    const nodes = isRecord(before['nodes']) ? before['nodes'] : {};
    if (typeof before['last_ingested_at'] === 'number') this.lastIngestedAt = before['last_ingested_at'];
    for (const id of this.nodeIds) {
      const node = isRecord(nodes[id]) ? nodes[id] : {};
      this.#nodes.set(id, {
        ingress: amount(node['ingress']),
        egress: amount(node['egress']),
        errors: count(node['errors']),
      });
    }
  }

  node(id: string): Readonly<NodeCounts> {
    return this.#nodes.get(id) ?? { ingress: amount(), egress: amount(), errors: 0 };
  }

  add(id: string, direction: 'ingress' | 'egress', records: number, bytes: number): void {
    const node = this.#nodes.get(id);
    if (!node || records === 0) return;
    node[direction].records += records;
    node[direction].bytes += bytes;
    this.#rise();
  }

  addErrors(id: string, errors: number): void {
    const node = this.#nodes.get(id);
    if (!node || errors === 0) return;
    node.errors += errors;
    this.#rise();
  }

  #rise(): void {
    this.revision += 1;
    this.changed?.();
  }

  toJson(): DataRecord {
    const nodes = [...this.#nodes].map(([id, { ingress, egress, errors }]) => [
      id,
      { ingress: { ...ingress }, egress: { ...egress }, errors },
    ]);
    return {
      nodes: Object.fromEntries(nodes),
      ...(this.lastIngestedAt !== undefined && { last_ingested_at: this.lastIngestedAt }),
    };
  }
}

const count = (value: JsonValue | undefined): number => (typeof value === 'number' ? value : 0);

function amount(value?: JsonValue): Amount {
  const saved = isRecord(value) ? value : {};
  return { records: count(saved['records']), bytes: count(saved['bytes']) };
}
