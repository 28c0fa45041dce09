/**
 * Receives each amount as a pipeline counts it, for billing. Unlike the counts, what
 * a meter has received is not lost when a node is removed. Must not throw.
 */
export interface Meter {
  /**
   * Adds records that reached a node (`ingress`) or left it (`egress`), as in `NodeCounts`.
   * @param bytes their size as JSON
   */
  add(nodeId: string, direction: 'ingress' | 'egress', records: number, bytes: number): void;
  /** Adds records that failed permanently at a node. */
  addErrors(nodeId: string, records: number): void;
  /**
   * Adds records of the input that an output has nothing left to do for: it has written what became
   * of them, or conditions and transforms left nothing. They are counted as they were before
   * conditions and transforms, once for all paths to the output.
   */
  addUnfiltered(nodeId: string, records: number, bytes: number): void;
}
