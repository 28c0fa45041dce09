import type { DataRecord } from '../connector-api/record.js';
import type { Failure } from '../connector-api/index.js';
import type { NewLogEntry } from '../connector-api/log-entry.js';
import type { NodeFacts, NodeFailure } from './pipeline-state.js';
import { FAILURE_LIMIT } from './status.js';

interface NodeHealth {
  /** It has responded in this run. */
  responded: boolean;
  failures: number;
  permanent: boolean;
  throttledUntil?: number;
  /** The last failure, and when it is retried; absent after a success. */
  failure?: NodeFailure;
  /** Batches read for this output and not yet acknowledged. */
  open: number;
  /** It has acknowledged a batch in this run. */
  acknowledged: boolean;
}

/** Tracks the health of a pipeline's input and outputs from their responses and failures. */
export class Health {
  readonly #now: () => number;
  readonly #log: (entry: NewLogEntry) => void;
  readonly #changed: () => void;
  readonly #failedErroring: (nodeId: string) => void;
  readonly #nodes = new Map<string, NodeHealth>();
  /** The last failure, in report format. */
  lastError: DataRecord | undefined;

  /**
   * @param now returns milliseconds since the epoch
   * @param changed called when the status of an input or output may have changed
   * @param failedErroring called for each failed attempt of a node that is erroring by then: not for
   *   the first ones of a failure that may be over soon
   */
  constructor(
    now: () => number,
    log: (entry: NewLogEntry) => void,
    changed: () => void,
    failedErroring: (nodeId: string) => void,
  ) {
    this.#now = now;
    this.#log = log;
    this.#changed = changed;
    this.#failedErroring = failedErroring;
  }

  /** Resets the state at the start of a run. */
  reset(nodeIds: readonly string[]): void {
    this.#nodes.clear();
    for (const id of nodeIds)
      this.#nodes.set(id, { responded: false, failures: 0, permanent: false, open: 0, acknowledged: false });
  }

  /** Records a successful response of an input or output. */
  responded(nodeId: string): void {
    const node = this.#nodes.get(nodeId);
    if (!node) return;
    const statusChanged = !node.responded || node.failures > 0 || node.permanent || node.throttledUntil !== undefined;
    if (node.failures > 0) this.#log({ level: 'info', code: 'recovered', message: 'recovered', nodeId });
    node.responded = true;
    node.failures = 0;
    node.permanent = false;
    delete node.throttledUntil;
    delete node.failure;
    if (statusChanged) this.#changed();
  }

  /** Counts batches read for an output. A negative number means batches were abandoned. */
  opened(nodeId: string, batches: number): void {
    const node = this.#nodes.get(nodeId);
    if (node) node.open = Math.max(0, node.open + batches);
  }

  /** Records that an output has acknowledged a batch. */
  acknowledged(nodeId: string): void {
    const node = this.#nodes.get(nodeId);
    if (!node) return;
    node.open = Math.max(0, node.open - 1);
    const statusChanged = !node.acknowledged;
    node.acknowledged = true;
    this.responded(nodeId);
    if (statusChanged) this.#changed();
  }

  /**
   * Records a failure.
   * @param waitMs milliseconds until the next attempt
   */
  failed(nodeId: string, { code, message, kind, needsAttention = false }: Failure, waitMs: number): void {
    const at = this.#now();
    this.lastError = { at, node_id: nodeId, code, message };
    this.#log({ level: kind === 'throttled' ? 'warn' : 'error', code, message, nodeId });
    const node = this.#nodes.get(nodeId);
    if (node) {
      if (kind === 'throttled') node.throttledUntil = at + waitMs;
      else node.failures += 1;
      node.permanent = kind === 'permanent' || needsAttention;
      node.failure = { at, code, message, retryAt: at + Math.round(waitMs) };
      if (kind !== 'throttled' && (node.permanent || node.failures >= FAILURE_LIMIT)) this.#failedErroring(nodeId);
    }
    this.#changed();
  }

  /** State of the input and outputs, by node id. */
  get facts(): Record<string, NodeFacts> {
    const facts = [...this.#nodes].map(([id, node]): [string, NodeFacts] => [
      id,
      {
        acknowledged: node.responded && (node.acknowledged || node.open === 0),
        failures: node.failures,
        permanent: node.permanent,
        ...(node.throttledUntil !== undefined && { throttledUntil: node.throttledUntil }),
        ...(node.failure && { failure: node.failure }),
      },
    ]);
    return Object.fromEntries(facts);
  }
}
