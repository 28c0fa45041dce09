import type { DataRecord } from '../connector-api/record.js';
import type { Failure } from '../connector-api/index.js';
import type { NewLogEntry } from '../connector-api/log-entry.js';
import type { NodeFacts } from './pipeline-state.js';

interface EndHealth {
  /** It has responded in this run. */
  answered: boolean;
  failures: number;
  permanent: boolean;
  throttledUntil?: number;
  /** Batches read for this output and not yet acknowledged. */
  open: number;
  /** It has acknowledged a batch in this run. */
  acknowledged: boolean;
}

/** Tracks the health of a pipeline's input and outputs from their responses and failures. */
export class Health {
  readonly #ends = new Map<string, EndHealth>();
  /** The last failure, in report format. */
  lastError: DataRecord | undefined;

  /**
   * @param now returns milliseconds since the epoch
   * @param changed called when the status of an input or output may have changed
   */
  constructor(
    private readonly now: () => number,
    private readonly log: (entry: NewLogEntry) => void,
    private readonly changed: () => void,
  ) {}

  /** Resets the state at the start of a run. */
  reset(nodeIds: readonly string[]): void {
    this.#ends.clear();
    for (const id of nodeIds)
      this.#ends.set(id, { answered: false, failures: 0, permanent: false, open: 0, acknowledged: false });
  }

  /** Records a successful response of an input or output. */
  answered(nodeId: string): void {
    const end = this.#ends.get(nodeId);
    if (!end) return;
    const news = !end.answered || end.failures > 0 || end.permanent || end.throttledUntil !== undefined;
    if (end.failures > 0) this.log({ level: 'info', code: 'recovered', message: 'recovered', nodeId });
    end.answered = true;
    end.failures = 0;
    end.permanent = false;
    delete end.throttledUntil;
    if (news) this.changed();
  }

  /** Counts batches read for an output. A negative number means batches were abandoned. */
  opened(nodeId: string, batches: number): void {
    const end = this.#ends.get(nodeId);
    if (end) end.open = Math.max(0, end.open + batches);
  }

  /** Records that an output has acknowledged a batch. */
  acknowledged(nodeId: string): void {
    const end = this.#ends.get(nodeId);
    if (!end) return;
    end.open = Math.max(0, end.open - 1);
    const news = !end.acknowledged;
    end.acknowledged = true;
    this.answered(nodeId);
    if (news) this.changed();
  }

  /**
   * Records a failure.
   * @param waitMs milliseconds until the next attempt
   */
  failed(nodeId: string, { code, message, kind }: Failure, waitMs: number): void {
    this.lastError = { at: this.now(), node_id: nodeId, code, message };
    this.log({ level: kind === 'throttled' ? 'warn' : 'error', code, message, nodeId });
    const end = this.#ends.get(nodeId);
    if (end) {
      if (kind === 'throttled') end.throttledUntil = this.now() + waitMs;
      else end.failures += 1;
      end.permanent = kind === 'permanent';
    }
    this.changed();
  }

  /** State of the input and outputs, by node id. */
  get facts(): Record<string, NodeFacts> {
    const facts = [...this.#ends].map(([id, end]): [string, NodeFacts] => [
      id,
      {
        acknowledged: end.answered && (end.acknowledged || end.open === 0),
        failures: end.failures,
        permanent: end.permanent,
        ...(end.throttledUntil !== undefined && { throttledUntil: end.throttledUntil }),
      },
    ]);
    return Object.fromEntries(facts);
  }
}
