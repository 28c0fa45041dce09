import type { DataRecord } from '../connector-api/record.js';
import { EdgeSchema, type SchemaState, type SchemaUpdate } from './edge-schema.js';

/** Observes the records on those edges of one pipeline whose schema is to be detected. */
export class EdgeSchemas {
  readonly #now: () => number;
  readonly #edges = new Map<string, EdgeSchema>();

  /** @param now returns milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Sets the edges to observe. Those that were observed before continue.
   * @param stored states of earlier processes, by edge id
   */
  watch(edgeIds: readonly string[], stored: ReadonlyMap<string, SchemaState>): void {
    for (const id of this.#edges.keys()) if (!edgeIds.includes(id)) this.#edges.delete(id);
    for (const id of edgeIds)
      if (!this.#edges.has(id)) this.#edges.set(id, new EdgeSchema(this.#now(), stored.get(id)));
  }

  /** Whether the edge is observed. */
  has(edgeId: string): boolean {
    return this.#edges.has(edgeId);
  }

  /** Observes records that pass an edge. Has no effect for an edge that is not observed. */
  observe(edgeId: string, records: readonly DataRecord[]): void {
    this.#edges.get(edgeId)?.observe(records, this.#now());
  }

  /** Ends the learning of an edge. Returns `false` if it is not observed. */
  graduate(edgeId: string): boolean {
    this.#edges.get(edgeId)?.graduate(this.#now());
    return this.has(edgeId);
  }

  /** Makes an edge learn again. Returns `false` if it is not observed. */
  reset(edgeId: string): boolean {
    this.#edges.get(edgeId)?.reset(this.#now());
    return this.has(edgeId);
  }

  /** Returns the schema of an edge, which may not be stored yet. */
  state(edgeId: string): SchemaState | undefined {
    return this.#edges.get(edgeId)?.state;
  }

  /**
   * Returns what is to be stored, by edge id: changes within a few seconds, counts once a minute.
   * @param isLast whether nothing is observed after this
   */
  take(isLast = false): ReadonlyMap<string, SchemaUpdate> {
    const now = this.#now();
    const updates = Array.from(this.#edges, ([id, edge]) => [id, edge.take(now, isLast)] as const);
    return new Map(updates.flatMap(([id, update]) => (update ? [[id, update]] : [])));
  }

  /** Takes back what could not be stored. */
  putBack(updates: ReadonlyMap<string, SchemaUpdate>): void {
    for (const [id, update] of updates) this.#edges.get(id)?.putBack(update);
  }
}
